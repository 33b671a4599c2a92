#include "api/context.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "api/device.h"
#include "api/either_way.h"
#include "api/function.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "base/clock.h"
#include "cpu/device.h"

namespace takt::api {
namespace {

using Modules = std::vector<Ref<vm::Module>>;

template <typename Handle>
absl::Status CheckList(Handle* const* handles, size_t count,
                       absl::string_view name) {
  if (count != 0) {
    TAKT_RETURN_IF_ERROR(Require(handles, absl::StrCat("options: ", name)));
  }
  for (size_t i = 0; i < count; ++i) {
    if (handles[i] != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("options: ", name, "[", i, "] is NULL"));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const takt_context_options_t& options) {
  TAKT_RETURN_IF_ERROR(
      CheckList(options.modules, options.module_count, "modules"));
  TAKT_RETURN_IF_ERROR(
      CheckList(options.devices, options.device_count, "devices"));
  TAKT_RETURN_IF_ERROR(
      CheckList(options.parameters, options.parameters_count, "parameters"));
  if (options.module_count == 0) {
    return absl::InvalidArgumentError("options: no modules");
  }
  return absl::OkStatus();
}

bool Needs(const vm::Module& module, absl::string_view name) {
  for (const vm::Dependency& dependency : module.dependencies()) {
    if (dependency.module_name == name) return true;
  }
  for (const vm::ImportInfo& import : module.imports()) {
    const absl::string_view full_name = import.full_name;
    if (full_name.substr(0, full_name.find('.')) == name) return true;
  }
  return false;
}

// True if one of the caller's modules imports from `name`, and none is it.
bool IsMissing(const takt_context_options_t& options, absl::string_view name) {
  bool needed = false;
  for (size_t i = 0; i < options.module_count; ++i) {
    const vm::Module& module = *Unwrap(options.modules[i]);
    if (module.name() == name) return false;
    needed = needed || Needs(module, name);
  }
  return needed;
}

// The modules to link: the library's own as needed, then the caller's.
absl::StatusOr<Modules> ListModules(Instance* instance,
                                    const takt_context_options_t& options) {
  Modules modules;
  absl::InlinedVector<hal::Device*, 4> devices;
  for (size_t i = 0; i < options.device_count; ++i) {
    devices.push_back(Unwrap(options.devices[i]));
  }
  const auto add = [&](absl::string_view name, auto make) -> absl::Status {
    if (!IsMissing(options, name)) return absl::OkStatus();
    TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> module, make());
    modules.push_back(std::move(module));
    return absl::OkStatus();
  };
  // The first: see FindOtherWays().
  TAKT_RETURN_IF_ERROR(
      add("hal", [&] { return instance->GetHalModule(devices); }));
  TAKT_RETURN_IF_ERROR(
      add("hal_inline", [&] { return instance->GetHalInlineModule(devices); }));
  TAKT_RETURN_IF_ERROR(
      add("hal_loader", [&] { return instance->GetHalLoaderModule(devices); }));
  TAKT_RETURN_IF_ERROR(add("vmvx", [&] { return instance->GetVmvxModule(); }));
  TAKT_RETURN_IF_ERROR(add("io_parameters", [&] {
    absl::InlinedVector<Parameters*, 4> archives;
    for (size_t i = 0; i < options.parameters_count; ++i) {
      archives.push_back(Unwrap(options.parameters[i]));
    }
    return instance->GetParametersModule(archives);
  }));
  for (size_t i = 0; i < options.module_count; ++i) {
    modules.push_back(Ref<vm::Module>::Retain(Unwrap(options.modules[i])));
  }
  return modules;
}

// NPUs that nothing which has been linked so far has code for.
void NoteUnusedNpus(Instance& instance, const takt_context_options_t& options) {
  for (size_t i = 0; i < options.device_count; ++i) {
    const hal::Device& device = *Unwrap(options.devices[i]);
    const npu::NpuUnit* const unit = UnitOf(device);
    if (unit == nullptr || unit->has_code()) continue;
    std::vector<absl::string_view> compiled;
    for (size_t j = 0; j < options.module_count; ++j) {
      const vm::Module& module = *Unwrap(options.modules[j]);
      if (Needs(module, "hal")) compiled.push_back(module.name());
    }
    if (compiled.empty()) continue;
    instance.notices().UnusedNpu(device.id(), absl::StrJoin(compiled, ", "));
  }
}

// The workers of the first device that has some.
Ref<exec::Executor> FindExecutor(const takt_context_options_t& options) {
  for (size_t i = 0; i < options.device_count; ++i) {
    exec::Executor* const executor = ExecutorOf(*Unwrap(options.devices[i]));
    if (executor != nullptr) return Ref<exec::Executor>::Retain(executor);
  }
  return nullptr;
}

// "local-task (takes embedded-elf-x86_64, vmvx-bytecode-fb)".
std::string DescribeDevice(const hal::Device& device) {
  constexpr absl::string_view kFormats[] = {"embedded-elf-x86_64",
                                            "embedded-elf-x86_32",
                                            "embedded-elf-arm_64",
                                            "embedded-elf-arm_32",
                                            "embedded-elf-riscv_64",
                                            "embedded-elf-riscv_32",
                                            "system-elf-x86_64",
                                            "system-elf-arm_64",
                                            "system-elf-riscv_64",
                                            "vmvx-bytecode-fb",
                                            "npu-fb"};
  std::string formats;
  for (const absl::string_view format : kFormats) {
    if (device.QueryI64("hal.executable.format", format).value_or(0) == 0) {
      continue;
    }
    absl::StrAppend(&formats, formats.empty() ? "" : ", ", format);
  }
  return absl::StrCat(device.id(), " (takes ",
                      formats.empty() ? "no code" : formats, ")");
}

// What a module says that finds no device for its code, shortened, and what the
// context has instead.
absl::Status ExplainMisfit(const absl::Status& status,
                           absl::Span<const Ref<hal::Device>> devices) {
  constexpr size_t kMaxTold = 240;
  constexpr size_t kMaxDevices = 8;
  if (status.raw_code() != TAKT_STATUS_INCOMPATIBLE) return status;
  std::string text(status.message().substr(0, kMaxTold));
  if (status.message().size() > kMaxTold) text += "...";
  absl::StrAppend(&text, devices.empty() ? "; the context has no device"
                                         : "; the context's devices are ");
  for (size_t i = 0; i < devices.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ");
    if (i == kMaxDevices) {
      absl::StrAppend(&text, devices.size() - i, " more");
      break;
    }
    absl::StrAppend(&text, DescribeDevice(*devices[i]));
  }
  if (absl::StrContains(status.message(), "system-elf-")) {
    absl::StrAppend(&text,
                    "; system libraries need a device with the option "
                    "allow_system_libraries");
  }
  return absl::Status(static_cast<absl::StatusCode>(status.raw_code()), text);
}

absl::StatusOr<Ref<Context>> CreateContext(
    Instance* instance, const takt_context_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_context_options_t given,
                        ReadOptions(options, &takt_context_options_init));
  return Context::Create(instance, given);
}

absl::Status Notify(Context& context, takt_context_signal_t signal) {
  if (signal < TAKT_CONTEXT_SIGNAL_RESUME ||
      signal > TAKT_CONTEXT_SIGNAL_FORK) {
    return absl::InvalidArgumentError(
        absl::StrCat("signal ", static_cast<int>(signal), " is no signal"));
  }
  BlockingWait thread(context.executor());
  const bool entered = context.strand().Enter(thread);
  absl::Status status =
      context.vm().Notify(static_cast<vm::Signal::Kind>(signal));
  if (entered) context.strand().Leave();
  return status;
}

}  // namespace

void InitializerWaiter::WaitUntilWoken(vm::Invocation& invocation) {
  BlockingWait thread(executor_.get());
  {
    MutexLock lock(&mutex_);
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].invocation != &invocation) continue;
      entries_.erase(entries_.begin() + i);  // Woken already.
      return;
    }
    entries_.push_back({&invocation, &thread});
  }
  thread.WaitUntilNotified(kInfiniteFuture);
}

void InitializerWaiter::Woken(vm::Invocation& invocation) {
  BlockingWait* thread = nullptr;
  MutexLock lock(&mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].invocation != &invocation) continue;
    thread = entries_[i].thread;
    entries_.erase(entries_.begin() + i);
    break;
  }
  if (thread == nullptr) {
    entries_.push_back({&invocation, nullptr});
  } else {
    thread->Notify();
  }
}

absl::StatusOr<Ref<Context>> Context::Create(
    Instance* instance, const takt_context_options_t& options) {
  TAKT_RETURN_IF_ERROR(CheckOptions(options));
  TAKT_ASSIGN_OR_RETURN(Modules modules, ListModules(instance, options));
  auto context = Ref<Context>::Adopt(
      new Context(Ref<Instance>::Retain(instance), FindExecutor(options)));
  for (size_t i = 0; i < options.device_count; ++i) {
    context->devices_.push_back(
        Ref<hal::Device>::Retain(Unwrap(options.devices[i])));
  }
  absl::StatusOr<Ref<vm::Context>> linked =
      vm::Context::Create(modules, &context->waiter_, options.step_limit);
  if (!linked.ok()) return ExplainMisfit(linked.status(), context->devices_);
  context->vm_ = *std::move(linked);
  FindOtherWays(instance, options, modules, *context->vm_);
  NoteUnusedNpus(*instance, options);
  return context;
}

uint32_t Context::shop_pools() const {
  uint32_t pools = 0;
  for (const Ref<hal::Device>& device : devices_) {
    // Every device that this library makes is one of these.
    pools |= static_cast<const cpu::Device&>(*device).shop_pools();
  }
  return pools;
}

}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_context_create(takt_instance_t* instance,
                                  const takt_context_options_t* options,
                                  takt_context_t** out_context) {
  TAKT_REQUIRE(instance, options, out_context);
  return takt::api::Give(__func__,
                         takt::api::CreateContext(Unwrap(instance), options),
                         out_context);
}

void takt_context_retain(takt_context_t* context) {
  takt::api::RetainHandle(context);
}

void takt_context_release(takt_context_t* context) {
  takt::api::ReleaseHandle(context);
}

size_t takt_context_module_count(const takt_context_t* context) {
  TAKT_REQUIRE_OR(0, context);
  return Unwrap(context)->vm().modules().size();
}

takt_module_t* takt_context_module(const takt_context_t* context,
                                   size_t index) {
  TAKT_REQUIRE_OR(nullptr, context);
  const auto modules = Unwrap(context)->vm().modules();
  if (index >= modules.size()) return nullptr;
  return takt::api::Wrap(modules[index].get());
}

takt_status_t takt_context_find_function(takt_context_t* context,
                                         const char* name,
                                         takt_function_t** out_function) {
  TAKT_REQUIRE(context, name, out_function);
  return takt::api::Give(
      __func__, takt::api::Function::Find(Unwrap(context), name), out_function);
}

takt_status_t takt_context_notify(takt_context_t* context,
                                  takt_context_signal_t signal) {
  TAKT_REQUIRE(context);
  return takt::api::ToStatus(__func__,
                             takt::api::Notify(*Unwrap(context), signal));
}
