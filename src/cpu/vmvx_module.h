// The native module `vmvx`: what bytecode executables import. It puts the
// kernels behind VM buffers, and checks every range before a kernel sees it.
//
// Offsets, strides and sizes are in elements of the operation's type. Errors
// of every function: OUT_OF_RANGE if it would touch what is outside of a
// buffer; INVALID_ARGUMENT for sizes and strides beyond 32 bits, a misaligned
// buffer or flags of no meaning; PERMISSION_DENIED for a read-only output;
// UNIMPLEMENTED for element types that there are no kernels for. Nothing has
// been written then.
#ifndef TAKT_CPU_VMVX_MODULE_H_
#define TAKT_CPU_VMVX_MODULE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "cpu/vmvx_offload.h"
#include "kernels/kernel_table.h"
#include "vm/native_module.h"

namespace takt::cpu {

// Contexts of the module run `kernels`, but for what `offload` (NULL: nothing)
// takes.
absl::StatusOr<Ref<vm::NativeModule>> CreateVmvxModule(
    const kernels::KernelTable& kernels,
    std::shared_ptr<VmvxOffload> offload = nullptr);

}  // namespace takt::cpu

#endif  // TAKT_CPU_VMVX_MODULE_H_
