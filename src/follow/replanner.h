// A Replanner plans pending work while other work is being done: it takes a
// snapshot, has it planned in the background within a budget, and puts the plan
// into force. Repairs of a plan (PlanFollower) and windows (WindowAdvisor) do
// that alike; a PendingWork says what there is to plan.
//
//   begin: snapshot              in force                             end
//   |---------- budget --------->|------- the plan is followed ------->|
//
// Thread-safety: none; the background plans on another thread (see window.h).
#ifndef TAKT_FOLLOW_REPLANNER_H_
#define TAKT_FOLLOW_REPLANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/histogram.h"
#include "follow/follow_options.h"
#include "follow/followed_plan.h"
#include "follow/window.h"
#include "plan/workload.h"
#include "sched/machine.h"

namespace takt::follow {

class PendingWork {
 public:
  struct Operation {
    uint32_t ordinal = 0;         // Within its job.
    uint32_t kernel = 0;          // For KernelOf().
    std::vector<uint32_t> after;  // Ordinals; those that are not listed are
                                  // done.
    bool is_running = false;
    int64_t end_ns = 0;  // When it is expected to end, if it runs.
  };
  struct Job {
    sched::StreamId stream = 0;
    int64_t release_ns = 0;
    int64_t deadline_ns = kInfiniteFuture;
    sched::ResourceSet allowed;
    std::vector<Operation> operations;  // Those that are not done.
  };
  struct Snapshot {
    int64_t origin_ns = 0;              // No job is released before it.
    int64_t end_ns = kInfiniteFuture;   // Nothing later is planned.
    int64_t next_ns = kInfiniteFuture;  // When the next snapshot is due.
    sched::ResourceSet lost;
    std::vector<Job> jobs;
    // Resources on which something runs, and until when.
    std::vector<std::pair<sched::ResourceSet, int64_t>> busy;
  };

  virtual ~PendingWork() = default;
  virtual const sched::Machine& machine() const = 0;
  // What is there to plan at `now_ns`, by a plan that comes into force at
  // `force_ns`. Without jobs: nothing.
  virtual Snapshot TakeSnapshot(int64_t now_ns, int64_t force_ns) = 0;
  virtual plan::WorkloadKernel KernelOf(uint32_t kernel) const = 0;
  // How a new plan is followed: adaptively.
  virtual FollowerOptions MakeOptions() = 0;
  // The plan of the last snapshot is in force. Replays to it what has begun or
  // ended since.
  virtual void OnInForce(FollowedPlan& plan, int64_t now_ns) = 0;
};

struct ReplannerOptions {
  WindowPlanning planning;
  // A plan that is not ready in time gets another budget, until the next
  // snapshot is due; else it is dropped.
  bool waits = false;
  // A plan is followed even if jobs are late by it that need not have been when
  // planning began.
  bool accepts_late_jobs = false;
  // No further job is planned beyond this number of operations.
  size_t operation_count_max = SIZE_MAX;
};

class Replanner {
 public:
  // `work` is borrowed.
  Replanner(PendingWork& work, ReplannerOptions options)
      : work_(work), options_(std::move(options)) {}

  // The next snapshot is due then.
  void BeginAt(int64_t begin_ns) { begin_ns_ = begin_ns; }
  int64_t begin_ns() const { return begin_ns_; }
  // The plan in force is no longer followed.
  void EndCurrent();
  // The plan in the making is not needed.
  void CancelPlanning() { window_ = nullptr; }
  // Both, and no snapshot is due.
  void Abandon();

  // The plan in force; null: none.
  FollowedPlan* current() const { return current_.get(); }
  // What it was made for. There must be a plan in force.
  const Window& current_window() const { return *current_window_; }

  // As PlacementAdvisor has them.
  int64_t next_event_ns() const;
  bool OnTime(int64_t now_ns);

  // Of all plans that were in force; they are its resolve_count, and those that
  // could not be are its refused_count.
  FollowReport report() const;
  // What planning took, by the real clock, for those that were in time.
  const Histogram& planning_times() const { return planning_times_; }

 private:
  void Begin(int64_t now_ns);
  std::shared_ptr<Window> MakeWindow(PendingWork::Snapshot snapshot);
  void AddJob(PendingWork::Job job,
              absl::flat_hash_map<uint32_t, uint32_t>* kernels, Window* window);
  bool Install(int64_t now_ns);

  PendingWork& work_;
  const ReplannerOptions options_;
  int64_t begin_ns_ = kInfiniteFuture;
  std::shared_ptr<Window> window_;  // In the making; null: none.
  int64_t force_ns_ = 0;            // When it comes into force,
  int64_t window_end_ns_ = 0;       // and until when.
  std::unique_ptr<FollowedPlan> current_;
  std::shared_ptr<Window> current_window_;
  int64_t end_ns_ = kInfiniteFuture;
  bool has_changed_ = false;  // Operations that wait have to be asked again.
  FollowReport past_;         // Of plans that are no longer in force.
  Histogram planning_times_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_REPLANNER_H_
