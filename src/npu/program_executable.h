// A ProgramExecutable is a program that the unit's driver has loaded. A
// dispatch of one of its functions is one operation, whatever its number of
// workgroups.
//
// A program may read what it writes, so a failed program is not tried again.
// The CPU cannot run it.
#ifndef TAKT_NPU_PROGRAM_EXECUTABLE_H_
#define TAKT_NPU_PROGRAM_EXECUTABLE_H_

#include <cstdint>
#include <memory>

#include "absl/types/optional.h"
#include "cpu/loaded_executable.h"
#include "npu/npu_unit.h"

namespace takt::npu {

class ProgramExecutable final : public cpu::ExecutableCode {
 public:
  // DATA_LOSS for bytes that the driver refuses.
  static absl::StatusOr<std::shared_ptr<cpu::ExecutableCode>> Load(
      Ref<NpuUnit> unit, absl::Span<const uint8_t> data);
  ~ProgramExecutable() override;

  // `code` if it is one of these, else nullptr.
  static const ProgramExecutable* From(const cpu::ExecutableCode& code) {
    return code.implementation() == &kImplementation
               ? static_cast<const ProgramExecutable*>(&code)
               : nullptr;
  }
  const void* implementation() const override { return &kImplementation; }

  const NpuUnit* unit() const { return unit_.get(); }
  // The driver's handle.
  uint64_t handle() const { return *program_; }

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override;

 private:
  static constexpr char kImplementation = 0;

  explicit ProgramExecutable(Ref<NpuUnit> unit) : unit_(std::move(unit)) {}

  const Ref<NpuUnit> unit_;
  absl::optional<uint64_t> program_;  // Once it is loaded.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_PROGRAM_EXECUTABLE_H_
