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

// Simulates the workload with a PlanFollower as the scheduler's advisor, from
// time 0. Streams of the workload that are not in the plan fill its holes. The
// observer in the options, if any, observes the run, too. If
// `follower.longest_ns` is null, it returns the 99 % quantiles of the kernels.
//
// Errors: those of PlanFollower::Create() and Simulate().
absl::StatusOr<PlayedPlan> PlayPlan(const Workload& workload,
                                    const plan::Plan& plan,
                                    follow::FollowerOptions follower,
                                    SimulationOptions options);

// Reports how the plan was followed, as JSON or as text.
std::string PlayedPlanJson(const Workload& workload,
                           const SimulationOptions& options,
                           const PlayedPlan& run);
std::string PlayedPlanTable(const Workload& workload,
                            const SimulationOptions& options,
                            const PlayedPlan& run);

}  // namespace takt::sim

#endif  // TAKT_SIM_PLAN_RUN_H_
