// Plans a workload: the jobs of all streams over one hyperperiod, or of a
// single shot, become a flexible job-shop problem, and its solution becomes a
// plan.
#ifndef TAKT_PLAN_WORKLOAD_PLAN_H_
#define TAKT_PLAN_WORKLOAD_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plan/plan.h"
#include "plan/workload.h"
#include "solve/problem.h"
#include "solve/solver.h"

namespace takt::plan {

// A workload's jobs, unrolled. The problem's operations are the plan's, in the
// same order; a machine is a resource.
struct UnrolledWorkload {
  solve::Problem problem;
  // The plan, without the starts, durations and resources of operations.
  Plan plan;
  // A schedule of at most this length meets all deadlines; the excess of a
  // longer one is its greatest lateness.
  int64_t horizon = 0;
  // By operation and alternative of the problem: the index of the plan's
  // alternative.
  std::vector<std::vector<uint32_t>> ways;
};

// Periodic streams release over the least common multiple of their periods;
// all jobs are due by its end, so that the plan can be repeated. Streams
// that follow others have a job for each of theirs. The deadlines become tails
// of the last operations.
//
// FAILED_PRECONDITION for a workload without programs; INVALID_ARGUMENT naming
// the stream: releases that are not known ahead, a chain that is not certain,
// periodic streams beside single shots, a hyperperiod of too many operations,
// or an operation that can run nowhere.
absl::StatusOr<UnrolledWorkload> UnrollWorkload(const Workload& workload);

// How good a plan is.
struct PlanQuality {
  uint32_t late_count = 0;   // Jobs that end after their deadline.
  int64_t lateness_max = 0;  // 0 without late jobs.
  int64_t makespan = 0;
  double energy_uj = 0;      // By Workload::power_mw.
  int64_t response_sum = 0;  // From release to end, of all jobs.
};
PlanQuality QualityOf(const Plan& plan, const Workload& workload);

struct WorkloadSolution {
  Plan plan;
  solve::Solution solution;  // Of the unrolled problem.
  PlanQuality quality;
};

// Unrolls and solves the workload. The search minimizes misses and makespan.
// Then, if energy is an objective, operations move to cheaper places as long as
// no more important objective gets worse.
//
//   start  the plan that the search begins with; or nullptr.
//
// INVALID_ARGUMENT if `start` is no plan of the workload; names the operation.
absl::StatusOr<WorkloadSolution> PlanWorkload(
    const Workload& workload, const solve::SolverOptions& options,
    const Plan* start = nullptr);

}  // namespace takt::plan

#endif  // TAKT_PLAN_WORKLOAD_PLAN_H_
