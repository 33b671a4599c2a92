// An NpuOffload has the heavy operations of vmvx code run on a unit, one batch
// each. What the unit cannot do (kind, type, tile, alignment) and, if the
// policy says so, what it failed to do is left to the CPU's kernels, which give
// the same result; both are counted.
#ifndef TAKT_NPU_NPU_OFFLOAD_H_
#define TAKT_NPU_NPU_OFFLOAD_H_

#include <cstddef>
#include <cstdint>

#include "cpu/vmvx_offload.h"
#include "npu/npu_unit.h"

namespace takt::npu {

class NpuOffload final : public cpu::VmvxOffload {
 public:
  explicit NpuOffload(Ref<NpuUnit> unit) : unit_(std::move(unit)) {}

  absl::StatusOr<bool> Mmt4d(kernels::Mmt4dType type,
                             const kernels::Mmt4dArguments& a) override;
  absl::StatusOr<bool> Pack(size_t element_bytes,
                            kernels::Operand2d<const uint8_t> in,
                            kernels::Shape2d in_shape,
                            kernels::Operand2d<uint8_t> out,
                            const kernels::TileGrid& grid,
                            uint64_t padding) override;
  absl::StatusOr<bool> Unpack(kernels::Operand2d<const uint32_t> in,
                              const kernels::TileGrid& grid,
                              kernels::Operand2d<uint32_t> out,
                              kernels::Shape2d out_shape) override;
  absl::StatusOr<bool> Fill(uint32_t value, kernels::Operand2d<uint32_t> out,
                            kernels::Shape2d shape) override;
  absl::StatusOr<bool> Copy(size_t element_bytes,
                            kernels::Operand2d<const uint8_t> in,
                            kernels::Operand2d<uint8_t> out,
                            kernels::Shape2d shape) override;

 private:
  // True if the unit has done it, false if the CPU is to do it.
  absl::StatusOr<bool> Run(const takt_npu_operation_t& operation);

  const Ref<NpuUnit> unit_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_OFFLOAD_H_
