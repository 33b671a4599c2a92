// An NpuOffload runs the heavy operations of vmvx code on a unit, one batch
// each. The CPU's kernels run operations that the unit does not support (kind,
// type, tile, alignment), and, if the policy allows it, operations that failed
// on the unit. The results are the same; both cases are counted.
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
  // Returns true if the unit has run the operation, false if the CPU must run
  // it.
  absl::StatusOr<bool> Run(const takt_npu_operation_t& operation);

  const Ref<NpuUnit> unit_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_OFFLOAD_H_
