// Who does an operation: the unit what it can, the CPU the rest, and what the
// unit fails to do where the policy says so. Results are the same; what the CPU
// does is counted.
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

// Whether the unit's arithmetic takes products of this type and tile.
bool TakesProduct(const takt_npu_capabilities_t& capabilities,
                  takt_npu_type_t type, int64_t m0, int64_t n0, int64_t k0);

// Whether the unit does the operation, whose ranges are host memory: its kind,
// type, tile and alignment. Nothing is counted.
bool Takes(const NpuUnit& unit, const takt_npu_operation_t& operation);

// Has the unit run operations that it takes, as one batch. True: done. False:
// the CPU is to do them; memory is as before, and they have been counted.
// `request` has neither check nor restore. Errors: as NpuUnit::Run(), where the
// CPU could not do better or must not.
absl::StatusOr<bool> RunOnUnit(
    NpuUnit& unit, absl::Span<const takt_npu_operation_t> operations,
    const NpuRequest& request);

// Runs operations in order, each by whom it falls to. Those that the unit takes
// and that follow one another are one batch; programs among them are run once,
// and the batch they are in is never left to the CPU.
absl::Status RunOperations(NpuUnit& unit,
                           absl::Span<const takt_npu_operation_t> operations,
                           const NpuRequest& request);

}  // namespace takt::npu

#endif  // TAKT_NPU_OPERATION_RUNNER_H_
