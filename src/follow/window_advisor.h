// A WindowAdvisor plans a window ahead, again and again: the jobs that are
// there and those that periodic streams will release within it, by the solver's
// fast heuristic, in the background; and has the scheduler follow that plan,
// adaptively, while it holds.
//
//   begin: look at what is there      in force                      next begin
//   |----------- budget ------------->|---- the plan is followed ---->|
//
// A plan holds until something urgent comes that it did not expect, an
// operation is late by more than the divergence, or a resource is lost or
// found; then all goes by the policy until a new plan is there, which is begun
// at once. Best effort fills the holes; other jobs that are not planned, of
// streams that cannot be (nobody knows yet what their jobs are made of), go by
// the policy among the planned ones.
//
// Thread-safety: used within the calls of the scheduler; what plans runs on
// another thread, if `background` has one.
#ifndef TAKT_FOLLOW_WINDOW_ADVISOR_H_
#define TAKT_FOLLOW_WINDOW_ADVISOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/histogram.h"
#include "follow/plan_follower.h"
#include "follow/window.h"
#include "plan/workload.h"
#include "sched/placement_advisor.h"
#include "sched/scheduler.h"

namespace takt::follow {

struct WindowOptions {
  int64_t length_ns = 100'000'000;
  // Its budget, if 0, is a twentieth of the length.
  WindowPlanning planning;
  // Lateness that ends a plan.
  int64_t divergence_ns = 500'000;
  // More operations are not planned.
  size_t operation_count_max = 2'000;
};

struct WindowReport {
  uint64_t planned_count = 0;   // Windows.
  uint64_t failed_count = 0;    // That could not be, or not in time.
  uint64_t broken_count = 0;    // Plans that did not hold to their end.
  uint64_t started_count = 0;   // Operations by a plan, and
  uint64_t in_place_count = 0;  // those of them where it had them.
  // What planning took, by the real clock; not of those that were not in time.
  Histogram planning;
};

class WindowAdvisor final : public sched::PlacementAdvisor {
 public:
  explicit WindowAdvisor(WindowOptions options);

  WindowReport report() const;
  // Whether a plan is followed now.
  bool is_in_force() const { return follower_ != nullptr; }

  // sched::PlacementAdvisor.
  void OnAttached(const sched::Scheduler& scheduler) override;
  sched::Prescription Prescribe(const sched::GuidedOperation& operation,
                                int64_t now_ns) override;
  sched::ResourceSet MayHave(const sched::GuidedOperation& operation,
                             int64_t now_ns) override;
  void OnStarted(const sched::GuidedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override;
  void OnStopped(const sched::GuidedOperation& operation, bool is_done,
                 int64_t now_ns) override;
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override;
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override;
  void OnOver(sched::JobId job, int64_t now_ns) override;
  int64_t next_event_ns() const override { return next_ns_; }
  bool OnTime(int64_t now_ns) override;

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
    std::vector<LiveOperation> operations;  // By program index.
  };
  struct StreamState {
    int64_t last_release_ns = INT64_MIN;
  };
  void Begin(int64_t now_ns);
  std::shared_ptr<Window> LookAround(int64_t now_ns);
  absl::Span<const sched::ProgramOperation> ProgramOf(sched::StreamId stream);
  bool AddJob(Window* window, const sched::AdvisedJob& job, const LiveJob* live,
              int64_t earliest_ns);
  int64_t ExpectedEnd(const LiveOperation& operation) const;
  plan::Kernel KernelOf(sched::KernelId kernel) const;
  uint32_t AddKernel(Window* window, sched::KernelId kernel);
  // True if a plan came into force.
  bool Install(int64_t now_ns);
  void TellPast(int64_t now_ns);
  void Break(int64_t now_ns);
  bool IsExpected(const sched::AdvisedJob& job) const;
  void Drop();

  const WindowOptions options_;
  const sched::Scheduler* scheduler_ = nullptr;
  int64_t next_ns_ = 0;               // OnTime() is due.
  int64_t begin_ns_ = 0;              // Of the next window.
  int64_t force_ns_ = 0;              // When window_ comes into force.
  int64_t window_end_ns_ = 0;         // Nothing later was looked at for it.
  int64_t end_ns_ = kInfiniteFuture;  // Of the plan that is followed.
  bool is_changed_ = false;
  std::shared_ptr<Window> window_;   // That is being planned; null: none.
  std::shared_ptr<Window> current_;  // That is followed.
  std::unique_ptr<PlanFollower> follower_;
  std::vector<LiveJob> live_;  // By index of the scheduler's job.
  std::vector<StreamState> streams_;
  std::vector<std::vector<sched::ProgramOperation>> chains_;  // By stream.
  absl::flat_hash_map<sched::KernelId, uint32_t> kernels_;    // Of a window.
  WindowReport report_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_WINDOW_ADVISOR_H_
