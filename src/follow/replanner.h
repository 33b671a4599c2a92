// A Replanner plans pending work while other work runs. It takes a snapshot,
// has it planned in the background within a budget, and puts the plan into
// force. Repairs of a plan (PlanFollower) and windows (WindowAdvisor) use it; a
// PendingWork supplies the snapshots.
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

#include "base/hash_map.h"
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
    // Busy resources, and the ends of their operations.
    std::vector<std::pair<sched::ResourceSet, int64_t>> busy;
  };

  virtual ~PendingWork() = default;
  virtual const sched::Machine& machine() const = 0;
  // Takes a snapshot at `now_ns` for a plan that comes into force at
  // `force_ns`. No jobs: there is nothing to plan.
  virtual Snapshot TakeSnapshot(int64_t now_ns, int64_t force_ns) = 0;
  virtual plan::WorkloadKernel KernelOf(uint32_t kernel) const = 0;
  // Makes the options by which a new plan is followed, adaptively.
  virtual FollowerOptions MakeOptions() = 0;
  // Called when the plan of the last snapshot is in force. Replays to it what
  // has begun or ended since the snapshot.
  virtual void OnInForce(FollowedPlan& plan, int64_t now_ns) = 0;
};

struct ReplannerOptions {
  WindowPlanning planning;
  // Whether a plan that is not ready in time gets another budget, until the
  // next snapshot is due; otherwise it is dropped.
  bool waits = false;
  // Whether a plan is followed even if it makes jobs late that were not late
  // when planning began.
  bool accepts_late_jobs = false;
  // The number of operations after which no further job is planned.
  size_t operation_count_max = SIZE_MAX;
};

class Replanner {
 public:
  // `work` is borrowed.
  Replanner(PendingWork& work, ReplannerOptions options)
      : work_(work), options_(std::move(options)) {}

  // Sets the time of the next snapshot.
  void BeginAt(int64_t begin_ns) { begin_ns_ = begin_ns; }
  int64_t begin_ns() const { return begin_ns_; }
  // Stops following the plan in force.
  void EndCurrent();
  // Drops the plan that is being made.
  void CancelPlanning() { window_ = nullptr; }
  // Does both, and cancels the next snapshot.
  void Abandon();

  // The plan in force; null: none.
  FollowedPlan* current() const { return current_.get(); }
  // The window of the plan in force, which must exist.
  const Window& current_window() const { return *current_window_; }

  // As PlacementAdvisor has them.
  int64_t next_event_ns() const;
  bool OnTime(int64_t now_ns);

  // The sum over all plans that were in force. resolve_count is the number of
  // these plans, refused_count the number of plans that did not come into
  // force.
  FollowReport report() const;
  // The durations of planning by the real clock, for plans that were ready in
  // time.
  const Histogram& planning_times() const { return planning_times_; }

 private:
  void Begin(int64_t now_ns);
  void BeginWindow(int64_t now_ns);
  std::shared_ptr<Window> MakeWindow(PendingWork::Snapshot snapshot);
  void AddJob(PendingWork::Job job, HashMap<uint32_t, uint32_t>* kernels,
              Window* window);
  // Returns whether a plan came into force. If memory runs out, none is.
  bool Install(int64_t now_ns);
  bool TryInstall(int64_t now_ns);

  PendingWork& work_;
  const ReplannerOptions options_;
  int64_t begin_ns_ = kInfiniteFuture;
  std::shared_ptr<Window> window_;  // Being planned; null: none.
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
