// A Window holds the rest of some jobs, and plans it while they run: by the
// solver's fast heuristic, in the background, within a budget. A Replanner
// fills the window and follows its plan.
//
// The plan contains the scheduler's streams (named by NameOf()); each job has
// the operations that were added. Its time 0 is origin_ns().
//
// Thread-safety: one thread fills it and gives it to Solve(), which may run on
// another one; is_planned(), took_ns() and TakePlan() on any.
#ifndef TAKT_FOLLOW_WINDOW_H_
#define TAKT_FOLLOW_WINDOW_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/hash_map.h"
#include "base/mutex.h"
#include "plan/plan.h"
#include "plan/workload.h"
#include "sched/machine.h"
#include "sched/stream.h"

namespace takt::follow {

// How windows are planned.
struct WindowPlanning {
  // The time that planning may take.
  int64_t budget_ns = 0;
  // If above 0: the search ends after this number of steps instead of the
  // budget, so that plans are reproducible. A plan comes into force after the
  // budget all the same.
  uint64_t step_limit = 0;
  // Runs a function on another thread. Null: functions run at once, on the
  // calling thread.
  std::function<void(std::function<void()>)> background;
};

// A job of a window's plan.
struct WindowJob {
  sched::StreamId stream = 0;
  int64_t release_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;
  std::vector<uint32_t> ordinals;  // Of the operations that are planned.
};

struct WindowPlan {
  plan::Plan plan;
  // The number of jobs that are late by this plan, although they could still
  // have been in time at `force_ns`.
  uint32_t late_count = 0;
};

class Window {
 public:
  // The plan is to come into force at `force_ns`. No job is released before
  // `origin_ns`. The plan does not use `lost` resources.
  Window(const sched::Machine& machine, const sched::ResourceSet& lost,
         int64_t origin_ns, int64_t force_ns);

  int64_t origin_ns() const { return origin_ns_; }
  const std::vector<WindowJob>& jobs() const { return jobs_; }
  size_t operation_count() const { return operation_count_; }

  // Returns its index, for the operations of jobs.
  uint32_t AddKernel(plan::WorkloadKernel kernel);
  // Adds the rest of a job: `operations` have its `ordinals`, in order, and
  // none starts before `ready_ns`.
  void AddJob(WindowJob job, std::vector<sched::ProgramOperation> operations,
              int64_t ready_ns, const sched::ResourceSet& allowed);
  // Marks resources as busy until a time. Called after all AddJob().
  void AddBusy(const sched::ResourceSet& resources, int64_t until_ns);

  // Plans the window, in the background.
  static void Solve(const std::shared_ptr<Window>& window,
                    const WindowPlanning& planning);
  bool is_planned() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The duration of planning, once the window is planned.
  int64_t took_ns() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Called once, when it is planned. FAILED_PRECONDITION: there is no plan.
  absl::StatusOr<WindowPlan> TakePlan() ABSL_LOCKS_EXCLUDED(mutex_);

  static std::string NameOf(sched::StreamId stream);
  // The scheduler's ids of the plan's streams, by name.
  HashMap<std::string, sched::StreamId> streams() const;

 private:
  void AddStream(std::vector<sched::ProgramOperation> operations,
                 int64_t offset_ns, int64_t deadline_ns,
                 const sched::ResourceSet& allowed);
  void Plan(const WindowPlanning& planning) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Relabel(WindowPlan* plan) const;

  const int64_t origin_ns_;
  const int64_t force_ns_;
  plan::Workload workload_;
  std::vector<WindowJob> jobs_;
  size_t operation_count_ = 0;
  mutable Mutex mutex_;
  bool is_planned_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t took_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::StatusOr<WindowPlan> plan_ ABSL_GUARDED_BY(mutex_) = WindowPlan();
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_WINDOW_H_
