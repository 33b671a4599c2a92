// A BatchExecutable is device code made of a list of operations that a program
// has built itself. It has one function, whose bindings the operations' ranges
// name. A dispatch runs the operations in order, each on the unit or the CPU
// (operation_runner.h).
//
// In its operations a range's `buffer` is the index of a binding, `offset`
// counts from that binding's start, and a `byte_length` of 0 stands for the
// length that the operation uses; `data` is ignored. The `program` of a program
// operation is an index of the list of programs.
#ifndef TAKT_NPU_BATCH_EXECUTABLE_H_
#define TAKT_NPU_BATCH_EXECUTABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cpu/loaded_executable.h"
#include "npu/npu_unit.h"

namespace takt::npu {

class BatchExecutable final : public cpu::ExecutableCode {
 public:
  static constexpr size_t kOperationsMax = 256;

  struct Options {
    NpuFaultPolicy policy;
    // Scratch memory that the batch has while it runs. It is one more binding,
    // after those of the dispatch.
    uint64_t scratch_bytes = 0;
  };

  // The use of a binding.
  struct Binding {
    uint64_t bytes_min = 0;
    uint32_t alignment = 1;
    bool is_written = false;  // Perhaps.
  };

  // `programs` were loaded by the unit's device. Errors, naming the operation:
  //   UNIMPLEMENTED     neither the unit nor the CPU supports it.
  //   INVALID_ARGUMENT  invalid operands, indices out of range, more than
  //                      kOperationsMax operations.
  static absl::StatusOr<std::shared_ptr<BatchExecutable>> Create(
      Ref<NpuUnit> unit, absl::Span<const takt_npu_operation_t> operations,
      size_t binding_count, absl::Span<cpu::LoadedExecutable* const> programs,
      const Options& options);

  const std::vector<Binding>& bindings() const { return bindings_; }

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override;

 private:
  struct ProgramOperands {
    std::vector<uint32_t> constants;
    std::vector<takt_npu_range_t> bindings;
  };
  struct Addresses;

  BatchExecutable(Ref<NpuUnit> unit, const Options& options)
      : unit_(std::move(unit)), options_(options) {}

  absl::Status Add(takt_npu_operation_t operation,
                   absl::Span<cpu::LoadedExecutable* const> programs);
  absl::Status AddProgram(takt_npu_program_t& run,
                          absl::Span<cpu::LoadedExecutable* const> programs);
  absl::Status AddRange(const char* name, uint64_t used_bytes,
                        uint32_t element_bytes, bool is_written,
                        takt_npu_range_t& range);
  size_t range_count() const {
    return bindings_.size() + (options_.scratch_bytes > 0 ? 1 : 0);
  }

  const Ref<NpuUnit> unit_;
  const Options options_;
  std::vector<takt_npu_operation_t> operations_;
  std::vector<Binding> bindings_;
  // Of the operations that are programs, in their order.
  std::vector<ProgramOperands> program_operands_;
  std::vector<std::shared_ptr<cpu::ExecutableCode>> programs_;  // Kept loaded.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_BATCH_EXECUTABLE_H_
