#include "plan/solved_plan.h"

#include "gtest/gtest.h"
#include "solve/solver.h"

namespace takt::plan {
namespace {

// Two chains on two machines; between 0 and 2 there is one that takes no time.
solve::Problem SmallProblem() {
  solve::Problem problem;
  problem.machine_count = 2;
  problem.operations = {
      {{{{0}, 3}, {{1}, 4}}}, {{{{1}, 0}}}, {{{{0}, 2}}}, {{{{0, 1}, 5}}}};
  problem.precedences = {{0, 1}, {1, 2}};
  return problem;
}

TEST(SolvedPlanTest, HasTheStartsOfTheSchedule) {
  const solve::Problem problem = SmallProblem();
  const solve::Schedule schedule = {{{0, 5}, {0, 8}, {0, 8}, {0, 0}}, 10};
  ASSERT_TRUE(solve::CheckSchedule(problem, schedule).ok());
  const Plan plan = PlanOfSchedule(problem, schedule, 9);
  ASSERT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan);
  EXPECT_TRUE(FindPlanFaults(plan).empty());
  EXPECT_EQ(plan.makespan(), 10);
  EXPECT_EQ(plan.lower_bound, 9);
  EXPECT_EQ(plan.resources.size(), 2u);
  EXPECT_EQ(plan.jobs.size(), 2u);
  ASSERT_EQ(plan.operations.size(), 3u);
  EXPECT_EQ(plan.operations[0].name, "operation 0");
  EXPECT_EQ(plan.operations[0].alternatives.size(), 2u);
  // What is left out orders all the same.
  EXPECT_EQ(plan.operations[1].name, "operation 2");
  EXPECT_EQ(plan.operations[1].after, std::vector<uint32_t>{0});
  EXPECT_EQ(plan.operations[1].job, plan.operations[0].job);
  EXPECT_EQ(plan.operations[1].ordinal, 1u);
  EXPECT_EQ(plan.operations[2].resources, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(plan.operations[2].alternatives.empty());
  EXPECT_NE(plan.operations[2].job, plan.operations[0].job);
}

TEST(SolvedPlanTest, PlansOfTheSolverHaveNoFaults) {
  solve::SolverOptions options;
  options.step_limit = 50;
  const auto solution = solve::Solve(SmallProblem(), options);
  ASSERT_TRUE(solution.ok());
  const Plan plan =
      PlanOfSchedule(SmallProblem(), solution->schedule, solution->lower_bound);
  EXPECT_TRUE(ValidatePlan(plan).ok());
  EXPECT_TRUE(FindPlanFaults(plan).empty());
  EXPECT_EQ(plan.makespan(), solution->schedule.makespan);
}

}  // namespace
}  // namespace takt::plan
