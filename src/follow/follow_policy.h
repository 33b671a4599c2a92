// A FollowPolicy decides how closely a plan is kept: strictly
// (strict_policy.h), or as far as it helps (adaptive_policy.h).
//
// A FollowedPlan calls it; the progress of the plan is theirs together.
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

// How often the policy is asked again about an operation that waits for another
// one that is late and not ready: nothing says when that one comes. Some
// decisions' time, so that asking costs little.
inline constexpr int64_t kPollNs = 20'000;

class FollowPolicy {
 public:
  virtual ~FollowPolicy() = default;

  // Where and when a slot runs that is ready and not over.
  virtual sched::Prescription Prescribe(
      PlanProgress::Binding* binding, uint32_t slot,
      const sched::AdvisedOperation& operation, int64_t now_ns) = 0;
  // Which other resources a slot may have that runs.
  virtual sched::ResourceSet MayHave(const PlanProgress::Binding&, uint32_t,
                                     int64_t) {
    return {};
  }
  // The plan was not kept. `binding`, if not null, is the job whose rest may
  // fall back to the online policy.
  virtual void OnViolation(const PlanEvent&, PlanProgress::Binding*) {}
  // The slot started so long after its planned start; a second call is for the
  // same start, as it was measured.
  virtual void OnStarted(PlanProgress::Binding*, uint32_t, int64_t) {}
  // Of the first `count` dispatches of the job, those that were not reported
  // have run without the scheduler, or do not come.
  virtual void OnUnseen(const PlanProgress::Binding&, size_t) {}
  // A resource was lost or found, as the progress shows it.
  virtual void OnAvailable(uint32_t, bool, int64_t) {}

  // Whether the plan is given up, and the online policy decides.
  virtual bool is_diverged() const { return false; }
  // When that ends; kInfiniteFuture: it does not.
  virtual int64_t resume_ns() const { return 0; }
  // True if it ends now.
  virtual bool Resume(int64_t) { return false; }
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_FOLLOW_POLICY_H_
