#include "exec/executor.h"

#include <algorithm>

#include "base/status.h"
#include "exec/stealing_executor.h"

namespace takt::exec {

absl::StatusOr<Ref<Executor>> Executor::Create(const Options& options) {
  return StealingExecutor::Create(options);
}

absl::StatusOr<Standing> Executor::FindStanding(const JobAttributes& job) {
  Standing standing{.lane = LaneOf(job.priority),
                    .deadline_ns = job.deadline_ns};
  if (job.cpus != nullptr) {
    TAKT_ASSIGN_OR_RETURN(standing.allowed, FindAffinity(*job.cpus));
  }
  return standing;
}

uint32_t Executor::AvailableConcurrency() {
  return std::max<uint32_t>(AllowedCpus().count(), 1);
}

}  // namespace takt::exec
