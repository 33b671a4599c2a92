#include "exec/executor.h"

#include <algorithm>

#include "base/status.h"
#include "exec/stealing_executor.h"

namespace takt::exec {

ExecutorStatistics::Counts& ExecutorStatistics::Counts::operator+=(
    const Counts& other) {
  job_count += other.job_count;
  tile_count += other.tile_count;
  range_count += other.range_count;
  near_steal_count += other.near_steal_count;
  far_steal_count += other.far_steal_count;
  preemption_count += other.preemption_count;
  park_count += other.park_count;
  wake_count += other.wake_count;
  return *this;
}

absl::StatusOr<Ref<Executor>> Executor::Create(const Options& options) {
  return StealingExecutor::Create(options);
}

absl::StatusOr<JobTraits> Executor::FindTraits(const JobAttributes& job) {
  JobTraits traits{.lane = LaneOf(job.priority),
                   .deadline_ns = job.deadline_ns};
  if (job.cpus != nullptr) {
    TAKT_ASSIGN_OR_RETURN(traits.allowed, FindAffinity(*job.cpus));
  }
  return traits;
}

uint32_t Executor::AvailableConcurrency() {
  return std::max<uint32_t>(topology::AllowedCpus().count(), 1);
}

}  // namespace takt::exec
