// Carries a plan out on a simulated machine.
#ifndef TAKT_SIM_PLAN_RUN_H_
#define TAKT_SIM_PLAN_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "follow/plan_follower.h"
#include "plan/plan.h"
#include "sim/simulation.h"

namespace takt::sim {

struct PlayedPlan {
  Report report;
  follow::FollowReport follow;
  std::vector<follow::PlanEvent> violations;  // In order.
};

// Plays the workload with a PlanFollower as the scheduler's advisor, from time
// 0. Streams of the workload that the plan does not have fill its holes. The
// options' observer, if any, sees the run, too; `follower.longest_ns`, if null,
// is what the kernels take at their 99 % quantiles.
//
// Errors: what PlanFollower::Create() and Simulate() say.
absl::StatusOr<PlayedPlan> PlayPlan(const Workload& workload,
                                    const plan::Plan& plan,
                                    follow::FollowerOptions follower,
                                    SimulationOptions options);

// How the plan was kept, as JSON or as text.
std::string PlayedPlanJson(const Workload& workload,
                           const SimulationOptions& options,
                           const PlayedPlan& run);
std::string PlayedPlanTable(const Workload& workload,
                            const SimulationOptions& options,
                            const PlayedPlan& run);

}  // namespace takt::sim

#endif  // TAKT_SIM_PLAN_RUN_H_
