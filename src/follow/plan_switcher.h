// A PlanSwitcher makes the scheduler carry out a plan. While another plan takes
// over, it carries out both: jobs that are released before that time follow the
// old plan, and later jobs follow the new plan.
//
// Plans count the dispatches of a job. The scheduler does not see all of them,
// and it also counts transfers, which run before everything else.
//
// Thread-safety: as sched::PlacementAdvisor; the driver of the scheduler calls
// the other methods between the scheduler's calls.
#ifndef TAKT_FOLLOW_PLAN_SWITCHER_H_
#define TAKT_FOLLOW_PLAN_SWITCHER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "base/spare_memory.h"
#include "follow/plan_follower.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

class PlanSwitcher final : public sched::PlacementAdvisor {
 public:
  // Whether plans count operations of that kernel.
  using IsDispatch = std::function<bool(const sched::KernelKey& kernel)>;

  explicit PlanSwitcher(IsDispatch is_dispatch)
      : is_dispatch_(std::move(is_dispatch)) {}

  // Follows another plan instead of the present one. Its time 0 is `origin_ns`.
  void Follow(std::unique_ptr<PlanFollower> follower, int64_t origin_ns);
  // Follows another plan from `at_ns` on, which is its time 0, and the end of a
  // period if the present plan is cyclic. No other plan may be taking over.
  void TakeOver(std::unique_ptr<PlanFollower> follower, int64_t at_ns);
  bool is_taking_over() const { return next_ != nullptr; }
  // Stops following: nothing is prescribed from now on.
  void Abandon() { is_abandoned_ = true; }

  // The plan that is followed; if there are two, the one that takes over.
  // nullptr: none yet.
  const PlanFollower* follower() const {
    return next_ != nullptr ? next_.get() : current_.get();
  }
  // The sum over all plans.
  FollowReport report() const;
  int64_t first_release_ns() const { return first_release_ns_; }
  int64_t last_end_ns() const { return last_end_ns_; }

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
  void OnRan(const sched::AdvisedOperation& operation, int64_t begin_ns,
             int64_t end_ns) override;
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override;
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override;
  void OnOver(sched::JobId job, int64_t now_ns) override;
  int64_t next_event_ns() const override;
  bool OnTime(int64_t now_ns) override;
  void OnLost() override { Abandon(); }

 private:
  static constexpr uint32_t kTransfer = UINT32_MAX;

  // The ordinals of the dispatches among the operations of a job.
  struct JobOrdinals {
    uint32_t generation = 0;
    uint32_t dispatch_count = 0;     // Seen so far.
    SpareVector<uint32_t> ordinals;  // By program index; kTransfer.
  };

  uint32_t OrdinalOf(const sched::AdvisedOperation& operation);
  // Counts the operation as the plan does; false: a transfer of a planned job.
  bool Translate(sched::AdvisedOperation* operation);
  PlanFollower& FollowerOf(sched::StreamId stream, int64_t release_ns);
  PlanFollower& FollowerOf(const sched::AdvisedOperation& operation) {
    return FollowerOf(operation.stream, operation.release_ns);
  }
  void EndTakeOver(int64_t now_ns);
  void ReportLost(PlanFollower* follower, int64_t now_ns) const;

  const IsDispatch is_dispatch_;
  const sched::Scheduler* scheduler_ = nullptr;
  std::unique_ptr<PlanFollower> current_;
  std::unique_ptr<PlanFollower> next_;
  int64_t switch_ns_ = 0;  // When next_ takes over.
  bool is_abandoned_ = false;
  FollowReport past_;              // Of plans that are over.
  SpareVector<JobOrdinals> jobs_;  // By index of the scheduler's job.
  int64_t first_release_ns_ = 0;
  int64_t last_end_ns_ = 0;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_SWITCHER_H_
