#include "runtime/context.h"

#include <new>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "cpu/device.h"
#include "cpu/vmvx_executable.h"
#include "runtime/blocking_wait.h"

namespace takt::runtime {
namespace {

// What compiled modules report if no device takes their code. Abseil has no
// name for it.
constexpr int kIncompatible = 18;

using Modules = std::vector<Ref<vm::Module>>;

// True if one of the caller's modules imports from the module `name`, and none
// of them has that name.
bool IsMissing(const ContextOptions& options, absl::string_view name) {
  bool is_needed = false;
  for (const vm::Module* module : options.modules) {
    if (module->name() == name) return false;
    is_needed = is_needed || Needs(*module, name);
  }
  return is_needed;
}

// The modules to link: the library's own as needed, then the caller's.
absl::StatusOr<Modules> ListModules(Instance* instance,
                                    const ContextOptions& options) {
  Modules modules;
  NativeModules& native = instance->native_modules();
  const auto add = [&](absl::string_view name, auto make) -> absl::Status {
    if (!IsMissing(options, name)) return absl::OkStatus();
    TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> module, make());
    modules.push_back(std::move(module));
    return absl::OkStatus();
  };
  // `hal` comes first: the route of NPU work looks for its state there.
  TAKT_RETURN_IF_ERROR(
      add("hal", [&] { return native.GetHalModule(options.devices); }));
  TAKT_RETURN_IF_ERROR(add("hal_inline", [&] {
    return native.GetHalInlineModule(options.devices);
  }));
  TAKT_RETURN_IF_ERROR(add("hal_loader", [&] {
    return native.GetHalLoaderModule(options.devices);
  }));
  TAKT_RETURN_IF_ERROR(add("vmvx", [&] { return native.GetVmvxModule(); }));
  TAKT_RETURN_IF_ERROR(add("io_parameters", [&] {
    return native.GetParametersModule(options.parameters);
  }));
  for (vm::Module* module : options.modules) {
    modules.push_back(Ref<vm::Module>::Retain(module));
  }
  return modules;
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

// Shortens the error of a module that finds no device for its code, and adds
// the devices of the context.
absl::Status ExplainMisfit(const absl::Status& status,
                           absl::Span<const Ref<hal::Device>> devices) {
  constexpr size_t kMaxTold = 240;
  constexpr size_t kMaxDevices = 8;
  if (status.raw_code() != kIncompatible) return status;
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
  if (!cpu::VmvxExecutable::IsAvailable()) {
    absl::StrAppend(
        &text, "; this build of Takt is without vmvx: ", "TAKT_VMVX is OFF");
  }
  return absl::Status(static_cast<absl::StatusCode>(status.raw_code()), text);
}

}  // namespace

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

absl::StatusOr<Ref<Context>> Context::Create(Instance* instance,
                                             const ContextOptions& options) {
  if (options.modules.empty()) {
    return absl::InvalidArgumentError("options: no modules");
  }
  TAKT_ASSIGN_OR_RETURN(Modules modules, ListModules(instance, options));
  TAKT_CHECK(modules.size() >= options.modules.size());
  auto context = Ref<Context>::Adopt(
      new Context(Ref<Instance>::Retain(instance),
                  Ref<exec::Executor>::Retain(options.executor)));
  for (hal::Device* device : options.devices) {
    context->devices_.push_back(Ref<hal::Device>::Retain(device));
  }
  absl::StatusOr<Ref<vm::Context>> linked = vm::Context::Create(
      modules, &context->waiter_, options.step_limit, options.memory_limit);
  if (!linked.ok()) return ExplainMisfit(linked.status(), context->devices_);
  context->vm_ = *std::move(linked);
  TAKT_CHECK(context->vm_->modules().size() == modules.size());
  return context;
}

absl::Status Context::Notify(vm::Signal::Kind signal) {
  BlockingWait thread(executor());
  const bool entered = call_queue_.Enter(thread);
  const absl::Status status = Attempt([&] { return vm_->Notify(signal); });
  if (entered) call_queue_.Leave();
  return status;
}

uint32_t Context::shop_pools() const {
  uint32_t pools = 0;
  for (const Ref<hal::Device>& device : devices_) {
    // All devices of this library are of this class.
    pools |= static_cast<const cpu::Device&>(*device).shop_pools();
  }
  return pools;
}

}  // namespace takt::runtime
