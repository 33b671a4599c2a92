#include "takt/tools/plan_problem.h"

#include "tests/api/test.h"

static const char kTwoJobs[] =
    "2 2 1.5\n2 1 1 2 2 2 2 1 3\n2 1 2 3 2 1 3 2 4\n";

static takt_plan_problem_t* two_jobs(void) {
  takt_plan_problem_t* problem = NULL;
  REQUIRE_OK(takt_plan_problem_parse(kTwoJobs, strlen(kTwoJobs),
                                     TAKT_PLAN_FORMAT_FJS, &problem));
  return problem;
}

static void reads_an_instance(void) {
  takt_plan_problem_t* problem = two_jobs();
  EXPECT(takt_plan_problem_machine_count(problem) == 2);
  EXPECT(takt_plan_problem_operation_count(problem) == 4);
  takt_plan_alternative_t alternative;
  EXPECT(takt_plan_problem_alternative(problem, 3, 1, &alternative));
  EXPECT(alternative.machine_count == 1 && alternative.machines[0] == 1);
  EXPECT(alternative.duration == 4);
  EXPECT(!takt_plan_problem_alternative(problem, 3, 2, &alternative));
  EXPECT(alternative.machines == NULL);
  EXPECT(!takt_plan_problem_alternative(problem, 4, 0, &alternative));
  takt_plan_problem_retain(problem);
  takt_plan_problem_release(problem);
  takt_plan_problem_release(problem);
}

static bool count_better(void* user_data, int64_t makespan,
                         int64_t elapsed_ns) {
  EXPECT(makespan >= 6 && elapsed_ns >= 0);
  ++*(int*)user_data;
  return true;
}

static void solves_and_checks(void) {
  takt_plan_problem_t* problem = two_jobs();
  int better_count = 0;
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.step_limit = 1000;
  options.on_better = count_better;
  options.user_data = &better_count;
  takt_plan_schedule_t* schedule = NULL;
  takt_plan_solve_report_t report;
  REQUIRE_OK(takt_plan_solve(problem, &options, &schedule, &report));
  EXPECT(takt_plan_schedule_makespan(schedule) == 6);
  EXPECT(report.lower_bound <= 6 && report.lower_bound > 0);
  EXPECT(better_count >= 1);
  size_t count = 0;
  const takt_plan_entry_t* entries =
      takt_plan_schedule_entries(schedule, &count);
  EXPECT(count == 4 && entries[1].start >= 2);
  EXPECT_OK(takt_plan_check(problem, schedule));
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
}

static bool stop(void* user_data, int64_t makespan, int64_t elapsed_ns) {
  (void)makespan, (void)elapsed_ns;
  ++*(int*)user_data;
  return false;
}

static void stops_when_told(void) {
  /* Nothing proves a chain of alternatives optimal at once: no limit but the
   * callback ends this search. */
  takt_plan_problem_t* problem = two_jobs();
  int calls = 0;
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.time_limit_ns = INT64_MAX;
  options.on_better = stop;
  options.user_data = &calls;
  takt_plan_schedule_t* schedule = NULL;
  REQUIRE_OK(takt_plan_solve(problem, &options, &schedule, NULL));
  EXPECT(calls == 1);
  EXPECT_OK(takt_plan_check(problem, schedule));
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
}

static void makes_problems_of_operations(void) {
  const uint32_t machines[2] = {0, 1};
  const takt_plan_alternative_t wide = {machines, 2, 3};
  const takt_plan_alternative_t narrow = {machines, 1, 4};
  const takt_plan_operation_t operations[2] = {{&wide, 1, 0, 0, 0, 0, 0},
                                               {&narrow, 1, 1, 2, 0, 0, 0}};
  const takt_plan_precedence_t precedence = {0, 1};
  takt_plan_problem_t* problem = NULL;
  REQUIRE_OK(takt_plan_problem_create(2, 2, operations, 1, &precedence, NULL,
                                      &problem));
  takt_plan_schedule_t* schedule = NULL;
  REQUIRE_OK(takt_plan_solve(problem, NULL, &schedule, NULL));
  EXPECT(takt_plan_schedule_makespan(schedule) == 3 + 4 + 2);
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
}

static void refuses_what_is_no_problem(void) {
  takt_plan_problem_t* problem = NULL;
  const uint32_t machine = 7;
  const takt_plan_alternative_t alternative = {&machine, 1, 3};
  const takt_plan_operation_t operation = {&alternative, 1, 0, 0, 0, 0, 0};
  EXPECT_ERROR(
      takt_plan_problem_create(2, 1, &operation, 0, NULL, NULL, &problem),
      TAKT_STATUS_INVALID_ARGUMENT, "operation 0");
  EXPECT(problem == NULL);
  const takt_plan_precedence_t itself = {0, 0};
  EXPECT_ERROR(
      takt_plan_problem_create(8, 1, &operation, 1, &itself, NULL, &problem),
      TAKT_STATUS_INVALID_ARGUMENT, "");
  EXPECT_ERROR(takt_plan_problem_create(8, 1, NULL, 0, NULL, NULL, &problem),
               TAKT_STATUS_INVALID_ARGUMENT, "operations is NULL");
  EXPECT_ERROR(
      takt_plan_problem_parse("1 1", 3, TAKT_PLAN_FORMAT_FJS, &problem),
      TAKT_STATUS_INVALID_ARGUMENT, "token");
  EXPECT_ERROR(
      takt_plan_problem_parse("1 1", 3, (takt_plan_format_t)9, &problem),
      TAKT_STATUS_INVALID_ARGUMENT, "format");
  EXPECT_ERROR(
      takt_plan_solve(NULL, NULL, (takt_plan_schedule_t**)&problem, NULL),
      TAKT_STATUS_INVALID_ARGUMENT, "problem is NULL");
}

static void refuses_a_wrong_schedule(void) {
  takt_plan_problem_t* problem = two_jobs();
  const takt_plan_entry_t early[4] = {{0, 0}, {0, 1}, {0, 0}, {0, 3}};
  takt_plan_schedule_t* schedule = NULL;
  REQUIRE_OK(takt_plan_schedule_create(4, early, 6, &schedule));
  EXPECT_ERROR(takt_plan_check(problem, schedule), TAKT_STATUS_INVALID_ARGUMENT,
               "operation 1");
  takt_plan_schedule_release(schedule);
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.thread_count = 0;
  EXPECT_ERROR(takt_plan_solve(problem, &options, &schedule, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "thread_count is 0");
  takt_plan_problem_release(problem);
}

/* An NPU with two programs, and a result that is due at 9. */
static void keeps_side_constraints(void) {
  const uint32_t npu = 0;
  const takt_plan_alternative_t way = {&npu, 1, 4};
  const takt_plan_operation_t operations[3] = {{&way, 1, 0, 0, 0, 0, 0},
                                               {&way, 1, 0, 0, 1, 9, 5},
                                               {&way, 1, 2, 0, 1, 0, 0}};
  const takt_plan_setup_t setups[3] = {
      {0, 0, 1, 3}, {0, 1, 0, 3}, {0, TAKT_PLAN_FIRST, 0, 1}};
  const takt_plan_precedence_t first_then_second = {0, 1};
  takt_plan_side_constraints_t constraints;
  takt_plan_side_constraints_init(&constraints);
  constraints.setups = setups;
  constraints.setup_count = 3;
  constraints.no_wait_count = 1;
  takt_plan_problem_t* problem = NULL;
  EXPECT_ERROR(takt_plan_problem_create(1, 3, operations, 1, &first_then_second,
                                        &constraints, &problem),
               TAKT_STATUS_INVALID_ARGUMENT, "no_waits is NULL");
  constraints.no_waits = &first_then_second;
  EXPECT_ERROR(takt_plan_problem_create(1, 3, operations, 1, &first_then_second,
                                        &constraints, &problem),
               TAKT_STATUS_INVALID_ARGUMENT, "may not wait for a setup of 3");
  constraints.no_wait_count = 0;
  REQUIRE_OK(takt_plan_problem_create(1, 3, operations, 1, &first_then_second,
                                      &constraints, &problem));
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.step_limit = 1000;
  options.objective = TAKT_PLAN_OBJECTIVE_TARDINESS;
  takt_plan_schedule_t* schedule = NULL;
  takt_plan_solve_report_t report;
  REQUIRE_OK(takt_plan_solve(problem, &options, &schedule, &report));
  EXPECT(report.weighted_tardiness == 15 && report.lower_bound <= 15);
  int64_t tardiness = 0;
  EXPECT_OK(takt_plan_check_tardiness(problem, schedule, &tardiness));
  EXPECT(tardiness == 15);
  takt_plan_schedule_release(schedule);
  const takt_plan_entry_t hasty[3] = {{0, 1}, {0, 5}, {0, 9}};
  REQUIRE_OK(takt_plan_schedule_create(3, hasty, 13, &schedule));
  EXPECT_ERROR(takt_plan_check_tardiness(problem, schedule, &tardiness),
               TAKT_STATUS_INVALID_ARGUMENT, "needs a setup of 3");
  EXPECT(tardiness == 0);
  takt_plan_schedule_release(schedule);
  options.objective = (takt_plan_objective_t)7;
  EXPECT_ERROR(takt_plan_solve(problem, &options, &schedule, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "objective");
  takt_plan_problem_release(problem);
}

int main(void) {
  RUN(reads_an_instance);
  RUN(keeps_side_constraints);
  RUN(solves_and_checks);
  RUN(stops_when_told);
  RUN(makes_problems_of_operations);
  RUN(refuses_what_is_no_problem);
  RUN(refuses_a_wrong_schedule);
  return test_result();
}
