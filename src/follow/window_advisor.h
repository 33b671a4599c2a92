// A WindowAdvisor plans windows in advance, one after the other. A window
// contains the released jobs and the jobs that periodic streams will release
// within it. The solver's fast heuristic plans it in the background. The
// scheduler follows the plan adaptively as long as the plan holds (see
// replanner.h for the times).
//
// A plan holds until an unexpected urgent job is released, an operation is late
// by more than the divergence, or a resource is lost or becomes available. Then
// the policy decides everything until the next plan is ready, whose planning
// begins at once. Best-effort jobs fill the holes of the plan. The policy also
// places the jobs of streams whose operations are not known yet.
//
// Thread-safety: used within the calls of the scheduler; planning runs on
// another thread, if `background` has one.
#ifndef TAKT_FOLLOW_WINDOW_ADVISOR_H_
#define TAKT_FOLLOW_WINDOW_ADVISOR_H_

#include <cstdint>

#include "base/histogram.h"
#include "follow/live_jobs.h"
#include "follow/replanner.h"
#include "follow/window_options.h"
#include "sched/placement_advisor.h"
#include "sched/scheduler.h"

namespace takt::follow {

struct WindowReport {
  uint64_t planned_count = 0;   // Windows.
  uint64_t failed_count = 0;    // Windows whose plan was missing or late.
  uint64_t broken_count = 0;    // Plans that did not hold to their end.
  uint64_t started_count = 0;   // Operations that started by a plan;
  uint64_t in_place_count = 0;  // those of them on their planned resources.
  // The durations of planning by the real clock, for plans that were ready in
  // time.
  Histogram planning;
};

class WindowAdvisor final : public sched::PlacementAdvisor {
 public:
  explicit WindowAdvisor(WindowOptions options);

  WindowReport report() const;
  // Whether a plan is followed now.
  bool is_in_force() const { return replanner_.current() != nullptr; }

  // sched::PlacementAdvisor.
  void OnAttached(const sched::Scheduler& scheduler) override;
  sched::Prescription Prescribe(const sched::AdvisedOperation& operation,
                                int64_t now_ns) override;
  sched::ResourceSet MayHave(const sched::AdvisedOperation& operation,
                             int64_t now_ns) override;
  void OnStarted(const sched::AdvisedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override;
  void OnStopped(const sched::AdvisedOperation& operation, bool is_done,
                 int64_t now_ns) override;
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override;
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override;
  void OnOver(sched::JobId job, int64_t now_ns) override;
  int64_t next_event_ns() const override { return replanner_.next_event_ns(); }
  bool OnTime(int64_t now_ns) override { return replanner_.OnTime(now_ns); }

 private:
  // Ends the plan, because it no longer holds.
  void Break(int64_t now_ns);
  bool IsExpected(const sched::AdvisedJob& job);

  const WindowOptions options_;
  LiveJobs jobs_;
  Replanner replanner_;
  uint64_t broken_count_ = 0;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_WINDOW_ADVISOR_H_
