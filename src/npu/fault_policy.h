// The reaction to operations that fail on an NPU.
#ifndef TAKT_NPU_FAULT_POLICY_H_
#define TAKT_NPU_FAULT_POLICY_H_

#include <cstdint>

#include "base/job_attributes.h"

namespace takt::npu {

// The policy of one NPU. The defaults suit operations of a few milliseconds.
struct NpuFaultPolicy {
  // A batch that takes longer is cancelled. kInfiniteFuture: no limit.
  int64_t time_limit_ns = 1'000'000'000;
  uint32_t retry_max = 1;        // Tries after the first, each a new batch.
  bool fall_back_to_cpu = true;  // The CPU runs what it can run as well.
  // Failures in a row that put the unit into quarantine, and how long the first
  // quarantine lasts; each failed probe doubles it, up to 64 times.
  uint32_t quarantine_after = 4;
  int64_t quarantine_ns = 100'000'000;
};

// Returns the policy of an NPU for the work of a job. Settings of the job
// override those of the NPU.
NpuFaultPolicy PolicyFor(const JobFaultPolicy& job, NpuFaultPolicy policy);

}  // namespace takt::npu

#endif  // TAKT_NPU_FAULT_POLICY_H_
