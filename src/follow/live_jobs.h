// LiveJobs holds what a window plans: the jobs of a scheduler with the states
// of their operations, and the jobs that its periodic streams are expected to
// release.
//
// Thread-safety: none; used within the calls of the scheduler.
#ifndef TAKT_FOLLOW_LIVE_JOBS_H_
#define TAKT_FOLLOW_LIVE_JOBS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/spare_memory.h"
#include "follow/replanner.h"
#include "follow/window_options.h"
#include "sched/placement_advisor.h"
#include "sched/scheduler.h"

namespace takt::follow {

class LiveJobs final : public PendingWork {
 public:
  // `options` outlives this; its planning has a budget.
  explicit LiveJobs(const WindowOptions& options) : options_(options) {}

  // Starts with a scheduler, and forgets the jobs of an earlier one. Jobs that
  // were released before are not known.
  void Attach(const sched::Scheduler& scheduler);

  // Events, as PlacementAdvisor has them.
  void OnReady(const sched::AdvisedOperation& operation);
  void OnStarted(const sched::AdvisedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns);
  void OnStopped(const sched::AdvisedOperation& operation);
  void OnReleased(const sched::AdvisedJob& job);
  void OnOver(sched::JobId job);

  bool IsBestEffort(sched::StreamId stream) const;
  // The operations of the stream's jobs; empty if they are not known.
  absl::Span<const sched::ProgramOperation> ProgramOf(sched::StreamId stream);

  const sched::Machine& machine() const override {
    return scheduler_->machine();
  }
  Snapshot TakeSnapshot(int64_t now_ns, int64_t force_ns) override;
  plan::WorkloadKernel KernelOf(sched::KernelId kernel) const override;
  FollowerOptions MakeOptions() override;
  void OnInForce(FollowedPlan& plan, int64_t now_ns) override;

 private:
  enum class State : uint8_t { kWaiting, kRunning, kDone };
  struct LiveOperation {
    State state = State::kWaiting;
    sched::KernelId kernel = 0;
    int64_t since_ns = 0;
    sched::ResourceSet resources;
  };
  struct LiveJob {
    sched::AdvisedJob job;
    SpareVector<LiveOperation> operations;  // By program index.
  };
  // A job, and its state; null: it is expected.
  using KnownJob = std::pair<sched::AdvisedJob, const LiveJob*>;

  LiveJob* Find(sched::JobId job);
  std::vector<KnownJob> FindJobs(int64_t now_ns, int64_t end_ns) const;
  bool IsPlannable(sched::StreamId stream);
  Job MakeJob(const KnownJob& known);
  int64_t ExpectedEnd(const LiveOperation& operation) const;

  const WindowOptions& options_;
  const sched::Scheduler* scheduler_ = nullptr;
  SpareVector<LiveJob> live_;           // By index of the scheduler's job.
  SpareVector<int64_t> last_releases_;  // By stream.
  std::vector<std::vector<sched::ProgramOperation>> programs_;  // By stream.
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_LIVE_JOBS_H_
