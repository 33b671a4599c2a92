// A FollowPolicy decides how closely a plan is followed: strictly
// (strict_policy.h), or as far as it helps (adaptive_policy.h).
//
// A FollowedPlan calls its policy; both use the same PlanProgress.
//
// Thread-safety: none.
#ifndef TAKT_FOLLOW_FOLLOW_POLICY_H_
#define TAKT_FOLLOW_FOLLOW_POLICY_H_

#include <cstddef>
#include <cstdint>

#include "follow/follow_options.h"
#include "follow/plan_progress.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

// The interval at which the policy is asked again about an operation that waits
// for a late operation: no event announces when that one becomes ready. It is
// several times the duration of a decision, so that it costs little.
inline constexpr int64_t kPollNs = 20'000;

class FollowPolicy {
 public:
  virtual ~FollowPolicy() = default;

  // Prescribes where and when a slot runs. The slot is ready and not over.
  virtual sched::Prescription Prescribe(
      PlanProgress::Binding* binding, uint32_t slot,
      const sched::AdvisedOperation& operation, int64_t now_ns) = 0;
  // The further resources that a running slot may have.
  virtual sched::ResourceSet MayHave(const PlanProgress::Binding& /*binding*/,
                                     uint32_t /*slot*/, int64_t /*now_ns*/) {
    return {};
  }
  // Reports a violation of the plan. `binding`, if not null, is the job whose
  // rest may fall back to the online policy.
  virtual void OnViolation(const PlanEvent& /*violation*/,
                           PlanProgress::Binding* /*binding*/) {}
  // Reports how late a slot started. A second call gives the measured time of
  // the same start.
  virtual void OnStarted(PlanProgress::Binding* /*binding*/, uint32_t /*slot*/,
                         int64_t /*late_ns*/) {}
  // Reports that among the first `count` dispatches of the job, those that were
  // not reported have run without the scheduler, or will not run.
  virtual void OnUnseen(const PlanProgress::Binding& /*binding*/,
                        size_t /*count*/) {}
  // Reports that a resource was lost or is available again. The progress
  // already shows it.
  virtual void OnAvailable(uint32_t /*resource*/, bool /*is_available*/,
                           int64_t /*now_ns*/) {}

  // Whether the plan is given up, and the online policy decides.
  virtual bool is_diverged() const { return false; }
  // The time at which the plan is followed again; kInfiniteFuture: never.
  virtual int64_t resume_ns() const { return 0; }
  // Returns true if the plan is followed again from now on.
  virtual bool Resume(int64_t /*now_ns*/) { return false; }
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_FOLLOW_POLICY_H_
