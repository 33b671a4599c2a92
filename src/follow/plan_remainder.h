// A PlanRemainder holds the rest of a plan that was given up: the jobs of the
// current period that are not done. A Replanner plans them anew.
//
// Thread-safety: none.
#ifndef TAKT_FOLLOW_PLAN_REMAINDER_H_
#define TAKT_FOLLOW_PLAN_REMAINDER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "follow/followed_plan.h"
#include "follow/replanner.h"

namespace takt::follow {

class PlanRemainder final : public PendingWork {
 public:
  // Both outlive this.
  PlanRemainder(const FollowedPlan& plan, const FollowerOptions& options)
      : plan_(plan), options_(options) {}

  // Whether the new plan contains the job.
  bool Contains(const PlanProgress::Binding& binding) const {
    return binding.job != PlanProgress::kNone &&
           jobs_.contains({binding.job, binding.cycle});
  }

  const sched::Machine& machine() const override {
    return plan_.progress().machine();
  }
  Snapshot TakeSnapshot(int64_t now_ns, int64_t force_ns) override;
  plan::WorkloadKernel KernelOf(uint32_t slot) const override;
  FollowerOptions MakeOptions() override;
  void OnInForce(FollowedPlan& plan, int64_t now_ns) override;

 private:
  using JobKey = std::pair<uint32_t, uint64_t>;  // Of the plan; its cycle.

  std::vector<std::pair<int64_t, JobKey>> FindJobs(int64_t now_ns,
                                                   uint64_t last_cycle,
                                                   int64_t end_ns) const;
  Job MakeJob(const JobKey& key) const;
  bool IsRunning(const PlanSlot& slot) const {
    return !slot.runs_on.empty() &&
           !slot.runs_on.Intersects(plan_.progress().lost());
  }
  // Expresses an event of the new plan by the indices of the old plan.
  PlanEvent Translate(PlanEvent event) const;

  const FollowedPlan& plan_;
  const FollowerOptions& options_;
  std::vector<JobKey> pending_;  // Of the last snapshot, by release.
  HashSet<JobKey> jobs_;         // Of the plan in force.
  // Slot and cycle, by operation of the plan in force.
  std::vector<std::pair<uint32_t, uint64_t>> places_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_REMAINDER_H_
