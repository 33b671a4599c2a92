// A VmvxExecutable is bytecode as device code: each exported function is one
// workgroup of a dispatch, except __init, __deinit, __notify, __set_constants
// and what else begins with "__" and has not the signature of a workgroup. It
// imports the kernels of vmvx_module.h.
//
// Module state is per VM context, so threads that run workgroups at once use
// one context each, taken from a set that grows with their number.
//
// Bindings are VM buffers over memory that is only borrowed for the call. A
// function that keeps one beyond its end (in a global, say) loses its context.
//
// Thread-safety: any number of threads may run it.
#ifndef TAKT_CPU_VMVX_EXECUTABLE_H_
#define TAKT_CPU_VMVX_EXECUTABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/block_pool.h"
#include "base/object.h"
#include "cpu/loaded_executable.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/list.h"
#include "vm/native_module.h"
#include "vm/type_registry.h"

namespace takt::cpu {

class VmvxExecutable final : public ExecutableCode {
 public:
  static constexpr absl::string_view kFormat = "vmvx-bytecode-fb";

  // False in a build without vmvx (TAKT_VMVX).
  static bool IsAvailable();

  // Verifies and links `data`, which `owner` keeps alive; without an owner it
  // is copied. Errors: as vm::BytecodeModule::Load and vm::Context::Create;
  // DATA_LOSS for functions of another signature, or attributes that are no
  // numbers; FAILED_PRECONDITION for constants that nothing takes.
  // `is_sequential`: workgroups run one at a time, because what they call does.
  static absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
      absl::Span<const uint8_t> data, Ref<Object> owner,
      absl::Span<const uint32_t> constants, Ref<vm::NativeModule> vmvx_module,
      bool is_sequential = false);
  ~VmvxExecutable() override;

  absl::Status RunWorkgroups(size_t function,
                             const DispatchArguments& arguments, uint32_t begin,
                             uint32_t end, exec::Worker& worker) override;

 private:
  // The context of one thread at a time.
  struct Instance {
    Ref<vm::Context> context;
    Ref<vm::List> bindings;
  };
  // The operands of one call; their memory is borrowed.
  struct Operands;

  VmvxExecutable() : blocks_(BlockPool::Create()) {}

  absl::Status ReadFunctions(bool is_sequential);
  absl::StatusOr<std::unique_ptr<Instance>> CreateInstance() const;
  absl::Status SetConstants(vm::Context& context) const;
  absl::StatusOr<std::unique_ptr<Instance>> AcquireInstance(uint32_t hint);
  void ReleaseInstance(std::unique_ptr<Instance> instance, uint32_t hint);
  absl::Status RunInInstance(Instance& instance, size_t function,
                             const DispatchArguments& arguments, uint32_t begin,
                             uint32_t end, const Operands& operands,
                             const exec::Worker& worker) const;

  Ref<vm::NativeModule> vmvx_module_;
  Ref<vm::BytecodeModule> module_;
  std::vector<uint32_t> constants_;
  std::vector<vm::FunctionRef> entries_;  // Parallel to functions().
  const UniqueBlockPool blocks_;

  // Idle instances, owned. A slot is taken by exchange with NULL and given
  // back by compare-exchange; release and acquire hand over what the last
  // user wrote to the instance.
  static constexpr size_t kIdleSlots = 64;
  std::array<std::atomic<Instance*>, kIdleSlots> idle_{};
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_VMVX_EXECUTABLE_H_
