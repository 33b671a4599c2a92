// What libtakt-tools gets from libtakt, and gives to it: bytes and texts, by
// functions of include/takt. No C++ object passes between the two libraries,
// because each of them has its own copy of the classes.
//
// Thread-safety: pure functions.
#ifndef TAKT_ANALYSIS_LIBTAKT_H_
#define TAKT_ANALYSIS_LIBTAKT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/object.h"
#include "plan/plan.h"
#include "takt/plan.h"
#include "takt/topology.h"
#include "takt/trace.h"
#include "topology/topology.h"
#include "trace/trace.h"

namespace takt::analysis {

// The bytes of the plan's file.
absl::StatusOr<std::string> PlanBytes(const takt_plan_t* plan);

absl::StatusOr<plan::Plan> ReadPlan(const takt_plan_t* plan);

// Ends a function with a `takt_plan_t** out_plan`: a plan of libtakt, or NULL
// and the error.
takt_status_t GivePlan(const char* source,
                       const absl::StatusOr<plan::Plan>& plan,
                       takt_plan_t** out_plan);

absl::StatusOr<topology::Topology> ReadTopology(
    const takt_topology_t* topology);

absl::StatusOr<Ref<trace::Trace>> ReadTrace(const takt_trace_t* trace);

}  // namespace takt::analysis

#endif  // TAKT_ANALYSIS_LIBTAKT_H_
