// Replaces vmvx in a build without it: neither modules nor executables of its
// bytecode load.
#include "base/absent.h"
#include "cpu/vmvx_executable.h"
#include "cpu/vmvx_module.h"

namespace takt::cpu {
namespace {

absl::Status Absent() { return AbsentError("vmvx", "TAKT_VMVX"); }

}  // namespace

absl::StatusOr<Ref<vm::NativeModule>> CreateVmvxModule(
    const kernels::KernelTable& kernels, std::shared_ptr<VmvxOffload> offload) {
  return Absent();
}

bool VmvxExecutable::IsAvailable() { return false; }

absl::StatusOr<std::shared_ptr<ExecutableCode>> VmvxExecutable::Load(
    absl::Span<const uint8_t> data, Ref<Object> owner,
    absl::Span<const uint32_t> constants, Ref<vm::NativeModule> vmvx_module,
    bool is_sequential) {
  return Absent();
}

}  // namespace takt::cpu
