// Fits a plan to a machine that has the same cores and NPUs as the machine of
// the plan, perhaps with other numbers, and perhaps more of them.
#ifndef TAKT_FOLLOW_PLAN_ALIGNMENT_H_
#define TAKT_FOLLOW_PLAN_ALIGNMENT_H_

#include "absl/status/statusor.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/resource_set.h"

namespace takt::follow {

// Replaces the resources of a well-formed plan by the machine's, in their
// order. A resource is found by its name ("pool#index"), or else by its
// cluster: the rest of a cluster goes to one pool, the first that has room for
// it. Resources that are `gone` are not used.
//
// INVALID_ARGUMENT naming the resource or the operation: a cluster that has no
// such pool here, or an operation that takes cores of two pools.
absl::StatusOr<plan::Plan> AlignPlan(const plan::Plan& plan,
                                     const sched::Machine& machine,
                                     const sched::ResourceSet& gone = {});

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_ALIGNMENT_H_
