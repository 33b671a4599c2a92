// A plan for a machine like the one that it is carried out on: the same cores
// and NPUs, perhaps numbered in another way, and perhaps more of them.
#ifndef TAKT_FOLLOW_PLAN_ALIGNMENT_H_
#define TAKT_FOLLOW_PLAN_ALIGNMENT_H_

#include "absl/status/statusor.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/resource_set.h"

namespace takt::follow {

// The well-formed plan with the machine's resources, in their order, in the
// place of its own. Each is found by its name ("pool#index"), the others by
// cluster: all that is left of a cluster goes to one pool, the first that has
// room for it. Nothing goes to what is `gone`.
//
// INVALID_ARGUMENT naming the resource or the operation: a cluster that has no
// such pool here, or an operation that takes cores of two pools.
absl::StatusOr<plan::Plan> AlignPlan(const plan::Plan& plan,
                                     const sched::Machine& machine,
                                     const sched::ResourceSet& gone = {});

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_ALIGNMENT_H_
