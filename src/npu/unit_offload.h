// A UnitOffload has the heavy operations of vmvx code run on a unit, one batch
// each. What the unit cannot do (kind, type, tile, alignment) and, if the
// policy says so, what it failed to do is left to the CPU's kernels, which give
// the same result; both are counted.
#ifndef TAKT_NPU_UNIT_OFFLOAD_H_
#define TAKT_NPU_UNIT_OFFLOAD_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "cpu/vmvx_offload.h"
#include "npu/staging.h"
#include "npu/unit.h"

namespace takt::npu {

class UnitOffload final : public cpu::VmvxOffload {
 public:
  explicit UnitOffload(Ref<Unit> unit)
      : unit_(std::move(unit)), staging_(*unit_) {}

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
  // Whether the unit takes operations of the kind on ranges that start there.
  bool Takes(takt_npu_kind_t kind,
             std::initializer_list<const void*> starts) const;
  // What to answer once it has run so.
  absl::StatusOr<bool> Conclude(const absl::Status& status);
  // Runs it; true if it is done, false if the CPU is to do it.
  absl::StatusOr<bool> Run(const takt_npu_operation_t& operation,
                           absl::FunctionRef<void()>* restore);
  absl::StatusOr<bool> LeaveToCpu();

  const Ref<Unit> unit_;
  Staging staging_;  // Of a unit that does not see host memory.
};

// Whether the unit's arithmetic takes products of this type and tile.
bool TakesProduct(const takt_npu_capabilities_t& capabilities,
                  takt_npu_type_t type, int64_t m0, int64_t n0, int64_t k0);

// After a failure that the CPU can make good: not for what is wrong in itself.
bool CanFallBack(const absl::Status& failure);

}  // namespace takt::npu

#endif  // TAKT_NPU_UNIT_OFFLOAD_H_
