// Runs operations on the unit if it supports them, else on the CPU. If an
// operation fails on the unit and the policy allows it, the CPU runs it. The
// results are the same; operations on the CPU are counted.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_NPU_OPERATION_RUNNER_H_
#define TAKT_NPU_OPERATION_RUNNER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "npu/npu_unit.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Whether the unit's arithmetic supports products of this type and tile.
bool TakesProduct(const takt_npu_capabilities_t& capabilities,
                  takt_npu_type_t type, int64_t m0, int64_t n0, int64_t k0);

// Whether the unit supports the operation, whose ranges are host memory: its
// kind, type, tile and alignment. Nothing is counted.
bool Takes(const NpuUnit& unit, const takt_npu_operation_t& operation);

// Runs operations that the unit supports as one batch. Returns true if they are
// done. Returns false if the CPU must run them: memory is then unchanged, and
// they were counted. `request` has neither check nor restore. Errors: as
// NpuUnit::Run(), if the CPU cannot or must not run them.
absl::StatusOr<bool> RunOnUnit(
    NpuUnit& unit, absl::Span<const takt_npu_operation_t> operations,
    const NpuRequest& request);

// Runs operations in order, on the unit or the CPU. Consecutive operations that
// the unit supports are one batch. A batch with programs runs once, and never
// on the CPU.
absl::Status RunOperations(NpuUnit& unit,
                           absl::Span<const takt_npu_operation_t> operations,
                           const NpuRequest& request);

}  // namespace takt::npu

#endif  // TAKT_NPU_OPERATION_RUNNER_H_
