// A StrictPolicy prescribes the planned place, time and order of each
// operation, and reports violations (see follow_options.h).
//
// Thread-safety: none.
#ifndef TAKT_FOLLOW_STRICT_POLICY_H_
#define TAKT_FOLLOW_STRICT_POLICY_H_

#include "follow/follow_policy.h"

namespace takt::follow {

class StrictPolicy final : public FollowPolicy {
 public:
  // All are borrowed.
  StrictPolicy(PlanProgress& progress, const FollowerOptions& options,
               FollowReport& report)
      : progress_(progress), options_(options), report_(report) {}

  sched::Prescription Prescribe(PlanProgress::Binding* binding, uint32_t slot,
                                const sched::AdvisedOperation& operation,
                                int64_t now_ns) override;
  void OnViolation(const PlanEvent& violation,
                   PlanProgress::Binding* binding) override;
  void OnStarted(PlanProgress::Binding* binding, uint32_t slot,
                 int64_t error_ns) override;

 private:
  PlanProgress& progress_;
  const FollowerOptions& options_;
  FollowReport& report_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_STRICT_POLICY_H_
