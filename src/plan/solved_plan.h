// Makes a plan of a solved job-shop problem.
#ifndef TAKT_PLAN_SOLVED_PLAN_H_
#define TAKT_PLAN_SOLVED_PLAN_H_

#include <cstdint>

#include "plan/plan.h"
#include "solve/problem.h"

namespace takt::plan {

// One unit of the problem's time becomes a nanosecond. Each machine becomes a
// core in a cluster of its own. Operations that precedences connect become a
// job. Operations of no duration only order others; they are left out, and
// their successors follow their predecessors. CheckSchedule() accepts
// `schedule`.
Plan PlanOfSchedule(const solve::Problem& problem,
                    const solve::Schedule& schedule, int64_t lower_bound);

}  // namespace takt::plan

#endif  // TAKT_PLAN_SOLVED_PLAN_H_
