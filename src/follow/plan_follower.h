// A PlanFollower makes the scheduler carry out a plan: as the scheduler's
// advisor it prescribes the planned place and time of each operation. When the
// plan was given up, it has the rest planned anew, and follows the new plan
// until the first one can be followed again. follow_options.h describes how
// closely a plan is followed.
//
//   FollowedPlan   the plan and how far it has been carried out, with its
//                  policy (StrictPolicy or AdaptivePolicy)
//   PlanRemainder  the jobs of the plan that are left
//   Replanner      plans that anew; holds the new FollowedPlan
//
// A plan without a period runs once; a cyclic plan is repeated from the time of
// Start() on. A job of the scheduler is matched with a job of the plan by its
// release time.
//
// Thread-safety: none; used within the calls of the scheduler, and between
// them by its driver.
#ifndef TAKT_FOLLOW_PLAN_FOLLOWER_H_
#define TAKT_FOLLOW_PLAN_FOLLOWER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/hash_map.h"
#include "follow/divergence.h"
#include "follow/follow_options.h"
#include "follow/followed_plan.h"
#include "follow/plan_remainder.h"
#include "follow/replanner.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

class PlanFollower final : public sched::PlacementAdvisor {
 public:
  // `plan` is well formed and its resources are the machine's, in order;
  // `streams` are the scheduler's ids of the plan's streams, by name.
  //
  // INVALID_ARGUMENT names a resource or stream of the plan that the machine or
  // `streams` lack; FAILED_PRECONDITION for a plan that cannot be carried out.
  static absl::StatusOr<std::unique_ptr<PlanFollower>> Create(
      const plan::Plan& plan, const sched::Machine& machine,
      const HashMap<std::string, sched::StreamId>& streams,
      FollowerOptions options);

  // Sets the plan's time 0. Nothing is planned before it.
  void Start(int64_t origin_ns) { plan_->Start(origin_ns); }
  // Ends the plan: nothing that is released at or after `end_ns` is planned.
  // For a cyclic plan it is the end of a period.
  void EndAt(int64_t end_ns);

  bool has_stream(sched::StreamId stream) const {
    return plan_->has_stream(stream);
  }
  // Stops waiting for operations that should have ended long ago and are not
  // ready.
  void GiveUpMissing(int64_t now_ns) { plan_->GiveUpMissing(now_ns); }

  FollowReport report() const;
  // The differences between actual and planned starts and ends.
  const Divergence& divergence() const { return plan_->divergence(); }
  // Whether all planned operations are done or given up. A cyclic plan is never
  // over before EndAt().
  bool is_over() const { return plan_->is_over(); }
  // Whether the plan is given up, and the online policy decides.
  bool is_diverged() const { return plan_->is_diverged(); }
  // Whether a new plan of the rest is followed instead.
  bool is_repaired() const { return replanner_->current() != nullptr; }

  // sched::PlacementAdvisor.
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
  int64_t next_event_ns() const override { return replanner_->next_event_ns(); }
  bool OnTime(int64_t now_ns) override;
  // The events of PlacementAdvisor with these names, for jobs of the plan's
  // streams: a PlanSwitcher passes them on. A scheduler that this object
  // advises directly does not pass them; then a job is known from its first
  // operation on.
  void NotifyReleased(const sched::AdvisedJob& job) { plan_->OnReleased(job); }
  void NotifyOver(sched::JobId job);

 private:
  explicit PlanFollower(FollowerOptions options);

  // The new plan that has the operation's job; null: none.
  FollowedPlan* FindRepair(const sched::AdvisedOperation& operation);
  sched::Prescription PrescribeAny(const sched::AdvisedOperation& operation,
                                   int64_t now_ns);
  // Begins to plan the rest of the plan anew.
  void PlanRest(int64_t now_ns);

  const FollowerOptions options_;
  std::unique_ptr<FollowedPlan> plan_;
  std::unique_ptr<PlanRemainder> rest_;
  std::unique_ptr<Replanner> replanner_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_FOLLOWER_H_
