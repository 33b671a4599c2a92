// Counts of an NPU's work, and a record of each batch.
#ifndef TAKT_NPU_NPU_STATISTICS_H_
#define TAKT_NPU_NPU_STATISTICS_H_

#include <cstdint>

#include "npu/lease.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Counts since the unit was opened.
struct NpuStatistics {
  uint64_t batch_count = 0;      // Submitted, each retry too.
  uint64_t operation_count = 0;  // Done, and their results were used.
  uint64_t mac_count = 0;        // Multiply-adds of the products among them.
  uint64_t busy_ns = 0;          // Time from the submission of batches to their
                                 // end.
  // Failures, by how a batch ended.
  uint64_t failed_count = 0;
  uint64_t corrupted_count = 0;
  uint64_t time_out_count = 0;
  uint64_t cancelled_count = 0;
  uint64_t overheated_count = 0;
  uint64_t lost_count = 0;
  uint64_t refused_count = 0;  // UNSUPPORTED, INVALID or NO_MEMORY.
  // The actions that followed.
  uint64_t retry_count = 0;
  uint64_t reset_count = 0;
  uint64_t quarantine_count = 0;
  uint64_t probe_count = 0;
  uint64_t error_count = 0;     // Requests that failed after all tries.
  uint64_t fallback_count = 0;  // Operations that the CPU ran after a failure.
  // Operations that the CPU ran because the unit does not support them, or is
  // in quarantine.
  uint64_t unsupported_count = 0;
  // Dispatches with two targets, by the target that was chosen.
  uint64_t taken_count = 0;
  uint64_t left_to_cpu_count = 0;
  uint64_t stray_completion_count = 0;  // Late, repeated, or of no batch.
  uint64_t bytes_to_unit = 0;           // Staged copies.
  uint64_t bytes_to_host = 0;
};

// One batch that has ended.
struct NpuBatchRecord {
  uint64_t id = 0;
  Urgency urgency;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  bool is_time_out = false;
  Lease::Turn turn;  // The grant of the lease under which it ran.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_STATISTICS_H_
