// Problems and schedules of src/solve as objects behind handles.
#ifndef TAKT_ANALYSIS_PLAN_PROBLEM_H_
#define TAKT_ANALYSIS_PLAN_PROBLEM_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/object.h"
#include "solve/problem.h"
#include "solve/solver.h"
#include "takt/tools/plan_problem.h"

namespace takt::analysis {

class PlanProblem final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_problem"};

  explicit PlanProblem(solve::Problem problem)
      : Object(&kType), problem_(std::move(problem)) {}

  const solve::Problem& problem() const { return problem_; }

 private:
  const solve::Problem problem_;
};

class PlanSchedule final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_schedule"};

  PlanSchedule(std::vector<takt_plan_entry_t> entries, int64_t makespan)
      : Object(&kType), entries_(std::move(entries)), makespan_(makespan) {}

  const std::vector<takt_plan_entry_t>& entries() const { return entries_; }
  solve::Schedule ToSchedule() const {
    solve::Schedule schedule{{}, makespan_};
    for (const takt_plan_entry_t& entry : entries_) {
      schedule.entries.push_back({entry.alternative, entry.start});
    }
    return schedule;
  }
  int64_t makespan() const { return makespan_; }

 private:
  const std::vector<takt_plan_entry_t> entries_;
  const int64_t makespan_;
};

// Errors: INVALID_ARGUMENT for no thread, or a negative time limit.
absl::StatusOr<solve::SolverOptions> ReadSolverOptions(
    const takt_plan_solve_options_t* options);
takt_plan_solve_report_t ReportOf(const solve::Solution& solution);

}  // namespace takt::analysis

#endif  // TAKT_ANALYSIS_PLAN_PROBLEM_H_
