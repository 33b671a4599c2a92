#include "analysis/plan_problem.h"

#include <string>

#include "abi/guard.h"
#include "analysis/handle.h"
#include "solve/instance_reader.h"
#include "solve/solver.h"

namespace takt::analysis {
namespace {

absl::StatusOr<solve::Operation> ReadOperation(
    size_t index, const takt_plan_operation_t& given) {
  solve::Operation operation;
  operation.release = given.release;
  operation.tail = given.tail;
  operation.family = given.family;
  operation.due = given.due;
  operation.weight = given.weight;
  for (size_t i = 0; i < given.alternative_count; ++i) {
    const takt_plan_alternative_t& alternative = given.alternatives[i];
    if (alternative.machine_count > 0 && alternative.machines == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "operation ", index, ": alternative ", i, ": machines is NULL"));
    }
    operation.alternatives.push_back(
        {{alternative.machines,
          alternative.machines + alternative.machine_count},
         alternative.duration});
  }
  return operation;
}

absl::StatusOr<Ref<PlanProblem>> Make(solve::Problem problem) {
  TAKT_RETURN_IF_ERROR(problem.Validate());
  return MakeRef<PlanProblem>(std::move(problem));
}

absl::Status ReadSideConstraints(const takt_plan_side_constraints_t* given,
                                 solve::Problem* problem) {
  TAKT_ASSIGN_OR_RETURN(const takt_plan_side_constraints_t constraints,
                        ReadOptions(given, &takt_plan_side_constraints_init));
  if ((constraints.setup_count > 0 && constraints.setups == nullptr) ||
      (constraints.no_wait_count > 0 && constraints.no_waits == nullptr)) {
    return absl::InvalidArgumentError(
        "side_constraints: setups or no_waits is NULL");
  }
  for (size_t i = 0; i < constraints.setup_count; ++i) {
    const takt_plan_setup_t& setup = constraints.setups[i];
    problem->setups.push_back(
        {setup.machine, setup.from, setup.to, setup.time});
  }
  for (size_t i = 0; i < constraints.no_wait_count; ++i) {
    problem->no_waits.emplace_back(constraints.no_waits[i].before,
                                   constraints.no_waits[i].after);
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref<PlanProblem>> Create(
    size_t machine_count, size_t operation_count,
    const takt_plan_operation_t* operations, size_t precedence_count,
    const takt_plan_precedence_t* precedences,
    const takt_plan_side_constraints_t* side_constraints) {
  if (machine_count > UINT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("machine_count is ", machine_count));
  }
  solve::Problem problem;
  problem.machine_count = static_cast<uint32_t>(machine_count);
  for (size_t i = 0; i < operation_count; ++i) {
    TAKT_ASSIGN_OR_RETURN(solve::Operation operation,
                          ReadOperation(i, operations[i]));
    problem.operations.push_back(std::move(operation));
  }
  for (size_t i = 0; i < precedence_count; ++i) {
    problem.precedences.emplace_back(precedences[i].before,
                                     precedences[i].after);
  }
  TAKT_RETURN_IF_ERROR(ReadSideConstraints(side_constraints, &problem));
  return Make(std::move(problem));
}

absl::StatusOr<Ref<PlanProblem>> Parse(const char* text, size_t text_length,
                                       takt_plan_format_t format) {
  const absl::string_view view(text, text_length);
  absl::StatusOr<solve::Problem> problem =
      format == TAKT_PLAN_FORMAT_FJS ? solve::ReadFjs(view)
      : format == TAKT_PLAN_FORMAT_FAJS
          ? solve::ReadFajs(view)
          : absl::InvalidArgumentError("format is not a takt_plan_format_t");
  if (!problem.ok()) return problem.status();
  return Make(*std::move(problem));
}

Ref<PlanSchedule> ToObject(const solve::Schedule& schedule) {
  std::vector<takt_plan_entry_t> entries;
  for (const solve::Schedule::Entry& entry : schedule.entries) {
    entries.push_back({entry.alternative, entry.start});
  }
  return MakeRef<PlanSchedule>(std::move(entries), schedule.makespan);
}

absl::StatusOr<Ref<PlanSchedule>> Solve(
    const PlanProblem* problem, const takt_plan_solve_options_t* options,
    takt_plan_solve_report_t* report) {
  TAKT_ASSIGN_OR_RETURN(solve::SolverOptions solver,
                        ReadSolverOptions(options));
  TAKT_ASSIGN_OR_RETURN(const takt_plan_solve_options_t given,
                        ReadOptions(options, &takt_plan_solve_options_init));
  if (given.objective == TAKT_PLAN_OBJECTIVE_TARDINESS) {
    solver.objective = solve::Objective::kWeightedTardiness;
  } else if (given.objective != TAKT_PLAN_OBJECTIVE_MAKESPAN) {
    return absl::InvalidArgumentError(
        "options: objective is not a takt_plan_objective_t");
  }
  TAKT_ASSIGN_OR_RETURN(const solve::Solution solution,
                        solve::Solve(problem->problem(), solver));
  if (report != nullptr) *report = ReportOf(solution);
  return ToObject(solution.schedule);
}

absl::StatusOr<Ref<PlanSchedule>> CreateSchedule(
    size_t entry_count, const takt_plan_entry_t* entries, int64_t makespan) {
  return MakeRef<PlanSchedule>(
      std::vector<takt_plan_entry_t>(entries, entries + entry_count), makespan);
}

absl::Status Check(const PlanProblem* problem, const PlanSchedule* schedule) {
  return solve::CheckSchedule(problem->problem(), schedule->ToSchedule());
}

absl::Status CheckTardiness(const PlanProblem* problem,
                            const PlanSchedule* schedule,
                            int64_t* out_tardiness) {
  *out_tardiness = 0;
  TAKT_RETURN_IF_ERROR(Check(problem, schedule));
  *out_tardiness =
      solve::WeightedTardiness(problem->problem(), schedule->ToSchedule());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<solve::SolverOptions> ReadSolverOptions(
    const takt_plan_solve_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_plan_solve_options_t given,
                        ReadOptions(options, &takt_plan_solve_options_init));
  if (given.thread_count == 0 || given.time_limit_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: thread_count is ", given.thread_count,
                     ", time_limit_ns is ", given.time_limit_ns));
  }
  solve::SolverOptions solver;
  solver.time_limit_ns = given.time_limit_ns;
  solver.thread_count = given.thread_count;
  solver.seed = given.seed;
  solver.step_limit = given.step_limit;
  if (given.start != nullptr) solver.start = Unwrap(given.start)->ToSchedule();
  if (given.on_better != nullptr) {
    solver.on_better =
        [on_better = given.on_better, user_data = given.user_data](
            const solve::Schedule& schedule, int64_t elapsed_ns) {
          return on_better(user_data, schedule.makespan, elapsed_ns);
        };
  }
  return solver;
}

takt_plan_solve_report_t ReportOf(const solve::Solution& solution) {
  return {solution.lower_bound,        solution.elapsed_ns,
          solution.best_found_ns,      solution.step_count,
          solution.weighted_tardiness, solution.lost_thread_count};
}

}  // namespace takt::analysis

using takt::analysis::Unwrap;

takt_status_t takt_plan_problem_create(
    size_t machine_count, size_t operation_count,
    const takt_plan_operation_t* operations, size_t precedence_count,
    const takt_plan_precedence_t* precedences,
    const takt_plan_side_constraints_t* side_constraints,
    takt_plan_problem_t** out_problem) {
  TAKT_REQUIRE(Items(operation_count, operations),
               Items(precedence_count, precedences), out_problem);
  TAKT_TRY {
    return takt::analysis::Give(
        __func__,
        takt::analysis::Create(machine_count, operation_count, operations,
                               precedence_count, precedences, side_constraints),
        out_problem);
  }
  TAKT_CATCH_ALL(Items(operation_count, operations),
                 Items(precedence_count, precedences), out_problem);
}

takt_status_t takt_plan_problem_parse(const char* text, size_t text_length,
                                      takt_plan_format_t format,
                                      takt_plan_problem_t** out_problem) {
  TAKT_REQUIRE(text, out_problem);
  TAKT_TRY {
    return takt::analysis::Give(
        __func__, takt::analysis::Parse(text, text_length, format),
        out_problem);
  }
  TAKT_CATCH_ALL(text, out_problem);
}

void takt_plan_problem_retain(takt_plan_problem_t* problem) {
  takt::analysis::RetainHandle(problem);
}

void takt_plan_problem_release(takt_plan_problem_t* problem) {
  takt::analysis::ReleaseHandle(problem);
}

size_t takt_plan_problem_machine_count(const takt_plan_problem_t* problem) {
  TAKT_REQUIRE_OR(0, problem);
  return Unwrap(problem)->problem().machine_count;
}

size_t takt_plan_problem_operation_count(const takt_plan_problem_t* problem) {
  TAKT_REQUIRE_OR(0, problem);
  return Unwrap(problem)->problem().operations.size();
}

bool takt_plan_problem_alternative(const takt_plan_problem_t* problem,
                                   size_t operation, size_t alternative,
                                   takt_plan_alternative_t* out_alternative) {
  TAKT_REQUIRE_OR(false, problem, out_alternative);
  *out_alternative = {nullptr, 0, 0};
  const auto& operations = Unwrap(problem)->problem().operations;
  if (operation >= operations.size() ||
      alternative >= operations[operation].alternatives.size()) {
    return false;
  }
  const takt::solve::Alternative& found =
      operations[operation].alternatives[alternative];
  *out_alternative = {found.machines.data(), found.machines.size(),
                      found.duration};
  return true;
}

takt_status_t takt_plan_solve(const takt_plan_problem_t* problem,
                              const takt_plan_solve_options_t* options,
                              takt_plan_schedule_t** out_schedule,
                              takt_plan_solve_report_t* out_report) {
  TAKT_REQUIRE(problem, out_schedule, Optional(out_report));
  TAKT_TRY {
    return takt::analysis::Give(
        __func__, takt::analysis::Solve(Unwrap(problem), options, out_report),
        out_schedule);
  }
  TAKT_CATCH_ALL(problem, out_schedule, Optional(out_report));
}

takt_status_t takt_plan_schedule_create(size_t entry_count,
                                        const takt_plan_entry_t* entries,
                                        int64_t makespan,
                                        takt_plan_schedule_t** out_schedule) {
  TAKT_REQUIRE(Items(entry_count, entries), out_schedule);
  TAKT_TRY {
    return takt::analysis::Give(
        __func__,
        takt::analysis::CreateSchedule(entry_count, entries, makespan),
        out_schedule);
  }
  TAKT_CATCH_ALL(Items(entry_count, entries), out_schedule);
}

void takt_plan_schedule_retain(takt_plan_schedule_t* schedule) {
  takt::analysis::RetainHandle(schedule);
}

void takt_plan_schedule_release(takt_plan_schedule_t* schedule) {
  takt::analysis::ReleaseHandle(schedule);
}

int64_t takt_plan_schedule_makespan(const takt_plan_schedule_t* schedule) {
  TAKT_REQUIRE_OR(0, schedule);
  return Unwrap(schedule)->makespan();
}

const takt_plan_entry_t* takt_plan_schedule_entries(
    const takt_plan_schedule_t* schedule, size_t* out_count) {
  TAKT_REQUIRE_OR(nullptr, schedule, out_count);
  *out_count = Unwrap(schedule)->entries().size();
  return Unwrap(schedule)->entries().data();
}

takt_status_t takt_plan_check(const takt_plan_problem_t* problem,
                              const takt_plan_schedule_t* schedule) {
  TAKT_REQUIRE(problem, schedule);
  TAKT_TRY {
    return takt::analysis::ToStatus(
        __func__, takt::analysis::Check(Unwrap(problem), Unwrap(schedule)));
  }
  TAKT_CATCH_ALL(problem, schedule);
}

takt_status_t takt_plan_check_tardiness(const takt_plan_problem_t* problem,
                                        const takt_plan_schedule_t* schedule,
                                        int64_t* out_tardiness) {
  TAKT_REQUIRE(problem, schedule, out_tardiness);
  TAKT_TRY {
    return takt::analysis::ToStatus(
        __func__, takt::analysis::CheckTardiness(
                      Unwrap(problem), Unwrap(schedule), out_tardiness));
  }
  TAKT_CATCH_ALL(problem, schedule, out_tardiness);
}
