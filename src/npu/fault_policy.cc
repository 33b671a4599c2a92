#include "npu/fault_policy.h"

#include <algorithm>

namespace takt::npu {

NpuFaultPolicy PolicyFor(const JobFaultPolicy& job, NpuFaultPolicy policy) {
  using Action = JobFaultPolicy::Action;
  if (job.time_limit_ns > 0) policy.time_limit_ns = job.time_limit_ns;
  if (job.action == Action::kDevice) return policy;
  const bool retries =
      job.action == Action::kRetry || job.action == Action::kRetryThenFallBack;
  // A job that asks for retries gets at least one.
  policy.retry_max = retries ? std::max(policy.retry_max, 1u) : 0;
  policy.fall_back_to_cpu = job.action == Action::kFallBack ||
                            job.action == Action::kRetryThenFallBack;
  return policy;
}

}  // namespace takt::npu
