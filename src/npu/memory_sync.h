// MemorySync is device code that flushes and invalidates memory by the driver
// of a unit, for cpu::CpuCommandBuffer::Create(). Each function has one
// binding, the range.
#ifndef TAKT_NPU_MEMORY_SYNC_H_
#define TAKT_NPU_MEMORY_SYNC_H_

#include <cstdint>
#include <utility>

#include "cpu/loaded_executable.h"
#include "npu/npu_unit.h"

namespace takt::npu {

class MemorySync final : public cpu::ExecutableCode {
 public:
  explicit MemorySync(Ref<NpuUnit> unit);

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override;

 private:
  const Ref<NpuUnit> unit_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_MEMORY_SYNC_H_
