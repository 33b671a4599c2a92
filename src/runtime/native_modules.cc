#include "runtime/native_modules.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "cpu/cpu_features.h"
#include "cpu/vmvx_module.h"
#include "kernels/kernel_table.h"
#include "modules/hal_inline_module.h"
#include "modules/hal_loader_module.h"
#include "modules/hal_module.h"
#include "modules/io_parameters_module.h"

namespace takt::runtime {
namespace {

// References to the devices, for a native module.
std::vector<Ref<hal::Device>> RefsOf(absl::Span<hal::Device* const> devices) {
  std::vector<Ref<hal::Device>> refs;
  for (hal::Device* device : devices) {
    refs.push_back(Ref<hal::Device>::Retain(device));
  }
  return refs;
}

// Writes the traces of compiled code to the log.
modules::TraceSink TraceTo(std::shared_ptr<const Log> log) {
  return [log = std::move(log)](absl::string_view text) {
    log->Write(LogSeverity::kInfo, text);
  };
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> NativeModules::GetHalModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHal, {devices.begin(), devices.end()}, [&] {
    return MakeHalModule(devices, /*shares_initialized=*/true);
  });
}

absl::StatusOr<Ref<vm::Module>> NativeModules::CreateOwnHalModule(
    absl::Span<hal::Device* const> devices) {
  return MakeHalModule(devices, /*shares_initialized=*/false);
}

absl::StatusOr<Ref<vm::Module>> NativeModules::MakeHalModule(
    absl::Span<hal::Device* const> devices, bool shares_initialized) {
  modules::HalModuleOptions options;
  options.devices = RefsOf(devices);
  options.trace_sink = TraceTo(log_);
  options.timers = timers_;
  options.collects_command_buffers = true;
  options.shares_initialized = shares_initialized;
  return modules::CreateHalModule(types_, std::move(options));
}

absl::StatusOr<Ref<vm::Module>> NativeModules::GetParametersModule(
    absl::Span<Parameters* const> archives) {
  // The key is the list of providers; a provider belongs to one scope. The
  // module keeps them alive, so no address can be reused for another provider.
  std::vector<const Object*> key;
  std::vector<modules::ParameterScope> scopes;
  for (const Parameters* archive : archives) {
    key.push_back(archive->provider().get());
    scopes.push_back({archive->scope(), archive->provider()});
  }
  return GetShared(Kind::kParameters, std::move(key), [&] {
    return modules::CreateIoParametersModule(types_, std::move(scopes));
  });
}

absl::StatusOr<Ref<vm::Module>> NativeModules::GetHalInlineModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHalInline, {devices.begin(), devices.end()}, [&] {
    modules::HalInlineModuleOptions options;
    options.devices = RefsOf(devices);
    options.trace_sink = TraceTo(log_);
    return modules::CreateHalInlineModule(types_, std::move(options));
  });
}

absl::StatusOr<Ref<vm::Module>> NativeModules::GetHalLoaderModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHalLoader, {devices.begin(), devices.end()}, [&] {
    modules::HalLoaderModuleOptions options;
    options.devices = RefsOf(devices);
    options.timers = timers_;
    return modules::CreateHalLoaderModule(types_, std::move(options));
  });
}

absl::StatusOr<Ref<vm::Module>> NativeModules::GetVmvxModule() {
  return GetShared(Kind::kVmvx, {}, []() -> ModuleOr {
    TAKT_ASSIGN_OR_RETURN(
        Ref<vm::NativeModule> module,
        cpu::CreateVmvxModule(kernels::SelectKernels(
            cpu::UsableInstructionSets(cpu::DetectProcessor()))));
    return Ref<vm::Module>(std::move(module));
  });
}

absl::StatusOr<Ref<vm::Module>> NativeModules::GetShared(
    Kind kind, std::vector<const Object*> key,
    absl::FunctionRef<ModuleOr()> make) {
  MutexLock lock(&mutex_);
  for (const SharedModule& shared : shared_) {
    if (shared.kind == kind && shared.key == key) return shared.module;
  }
  TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> module, make());
  TAKT_CHECK(module != nullptr);
  DropIdle(kIdleModulesMax - 1);
  shared_.push_back({kind, std::move(key), module});
  return module;
}

void NativeModules::DropIdle(size_t idle_count_max) {
  size_t idle_count = 0;
  for (const SharedModule& shared : shared_) {
    idle_count += shared.module->IsUnique();
  }
  for (size_t i = 0; i < shared_.size() && idle_count > idle_count_max;) {
    if (shared_[i].module->IsUnique()) {
      shared_.erase(shared_.begin() + i);
      --idle_count;
    } else {
      ++i;
    }
  }
  TAKT_CHECK(idle_count <= idle_count_max);
}

void NativeModules::Trim() {
  MutexLock lock(&mutex_);
  DropIdle(0);
}

}  // namespace takt::runtime
