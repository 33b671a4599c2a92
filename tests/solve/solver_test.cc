#include "solve/solver.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "solve/bounds.h"
#include "solve/list_schedule.h"
#include "tests/solve/random_problem.h"

namespace takt::solve {
namespace {

// Limited by steps alone, so that a slow machine changes nothing.
SolverOptions Steps(uint64_t step_limit) {
  SolverOptions options;
  options.time_limit_ns = int64_t{3600} * 1'000'000'000;
  options.step_limit = step_limit;
  return options;
}

// The optimum by trying every order and every choice: operations are placed
// one after the other at their earliest start. Some such order gives an
// optimal schedule (it is semi-active).
int64_t Exhaustive(const Problem& problem) {
  const size_t count = problem.operations.size();
  std::vector<int64_t> end(count, -1);
  int64_t best = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> free_at(problem.machine_count, 0);
  const auto place = [&](auto& self, size_t placed, int64_t makespan) -> void {
    if (makespan >= best) return;
    if (placed == count) {
      best = makespan;
      return;
    }
    for (uint32_t v = 0; v < count; ++v) {
      if (end[v] >= 0) continue;
      int64_t earliest = problem.operations[v].release;
      bool ready = true;
      for (const auto& [before, after] : problem.precedences) {
        if (after != v) continue;
        ready = ready && end[before] >= 0;
        earliest = std::max(earliest, end[before]);
      }
      if (!ready) continue;
      for (const Alternative& a : problem.operations[v].alternatives) {
        int64_t start = earliest;
        for (const uint32_t m : a.machines) {
          start = std::max(start, free_at[m]);
        }
        const std::vector<int64_t> saved = free_at;
        end[v] = start + a.duration;
        for (const uint32_t m : a.machines) free_at[m] = end[v];
        self(self, placed + 1,
             std::max(makespan, end[v] + problem.operations[v].tail));
        end[v] = -1;
        free_at = saved;
      }
    }
  };
  place(place, 0, 0);
  return best;
}

// A search that still gets better ends at the limit as well.
TEST(SolverTest, AStepLimitHoldsToTheStep) {
  Random random(7);
  const Problem problem =
      MakeRandomProblem({.operation_count = 120, .machine_count = 4}, random);
  for (const uint64_t limit : {uint64_t{300}, uint64_t{1'000}}) {
    const auto solution = Solve(problem, Steps(limit));
    ASSERT_TRUE(solution.ok()) << solution.status();
    ASSERT_FALSE(solution->optimal());
    EXPECT_EQ(solution->step_count, limit);
  }
}

TEST(SolverTest, FindsTheOptimumOfSmallProblems) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    const Problem problem =
        MakeRandomProblem({.operation_count = 6,
                           .machine_count = 3,
                           .width_max = static_cast<uint32_t>(1 + seed % 2),
                           .with_dates = seed % 3 == 0},
                          random);
    const auto solution = Solve(problem, Steps(4000));
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_TRUE(CheckSchedule(problem, solution->schedule).ok());
    const int64_t optimum = Exhaustive(problem);
    EXPECT_EQ(solution->schedule.makespan, optimum) << "seed " << seed;
    EXPECT_LE(solution->lower_bound, optimum) << "seed " << seed;
  }
}

TEST(SolverTest, TheSameSeedGivesTheSameSchedule) {
  Random random(3);
  const Problem problem = MakeRandomProblem({.operation_count = 80}, random);
  SolverOptions options = Steps(3000);
  options.seed = 5;
  const auto a = Solve(problem, options);
  const auto b = Solve(problem, options);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->schedule.makespan, b->schedule.makespan);
  for (size_t v = 0; v < problem.operations.size(); ++v) {
    EXPECT_EQ(a->schedule.entries[v].start, b->schedule.entries[v].start);
    EXPECT_EQ(a->schedule.entries[v].alternative,
              b->schedule.entries[v].alternative);
  }
}

TEST(SolverTest, ReportsOnlyBetterSchedules) {
  Random random(11);
  const Problem problem = MakeRandomProblem({.operation_count = 60}, random);
  std::vector<int64_t> makespans;
  SolverOptions options = Steps(2000);
  options.thread_count = 2;
  options.on_better = [&](const Schedule& schedule, int64_t) {
    EXPECT_TRUE(CheckSchedule(problem, schedule).ok());
    makespans.push_back(schedule.makespan);
    return true;
  };
  const auto solution = Solve(problem, options);
  ASSERT_TRUE(solution.ok()) << solution.status();
  ASSERT_FALSE(makespans.empty());
  EXPECT_EQ(makespans.back(), solution->schedule.makespan);
  EXPECT_TRUE(std::is_sorted(makespans.rbegin(), makespans.rend()));
  EXPECT_EQ(solution->lost_thread_count, 0u);
}

TEST(SolverTest, StopsWhenABoundIsMet) {
  Problem problem;
  problem.machine_count = 2;
  for (int i = 0; i < 10; ++i) {
    problem.operations.push_back({{{{0}, 7}, {{1}, 7}}});
  }
  const auto solution = Solve(problem, Steps(0));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->schedule.makespan, 35);
  EXPECT_TRUE(solution->optimal());
}

TEST(SolverTest, BeginsWithTheScheduleThatItIsGiven) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Problem problem = MakeRandomProblem(
        {.operation_count = 60, .duration_min = 0, .with_dates = true}, random);
    if (seed % 2 == 0) {  // Some operations take no time.
      for (Operation& operation : problem.operations) {
        for (Alternative& a : operation.alternatives) a.duration /= 10;
      }
    }
    const auto found = Solve(problem, Steps(2'000));
    ASSERT_TRUE(found.ok()) << found.status();
    SolverOptions options = Steps(1);
    options.seed = seed + 1;
    options.start = found->schedule;
    const auto again = Solve(problem, options);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_LE(again->schedule.makespan, found->schedule.makespan);
    EXPECT_TRUE(CheckSchedule(problem, again->schedule).ok());
  }
}

TEST(SolverTest, RefusesAStartThatIsNoSchedule) {
  Random random(1);
  const Problem problem = MakeRandomProblem({.operation_count = 9}, random);
  SolverOptions options = Steps(10);
  options.start = Solve(problem, options)->schedule;
  options.start->entries[3].start += 1'000;
  const absl::Status status = Solve(problem, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, 5), "start");
}

TEST(SolverTest, SolvesTheEmptyProblem) {
  const auto solution = Solve(Problem(), {});
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->schedule.makespan, 0);
}

TEST(SolverTest, TakesOperationsOfNoDuration) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Problem problem =
        MakeRandomProblem({.operation_count = 40, .duration_min = 0}, random);
    for (Operation& operation : problem.operations) {
      for (Alternative& a : operation.alternatives) a.duration /= 10;
    }
    const auto solution = Solve(problem, Steps(1000));
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_TRUE(CheckSchedule(problem, solution->schedule).ok());
  }
}

TEST(SolverTest, RejectsAnInvalidProblem) {
  Problem problem;
  problem.operations.emplace_back();
  EXPECT_EQ(Solve(problem, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(BoundsTest, NoneExceedsAFeasibleMakespan) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Problem problem =
        MakeRandomProblem({.operation_count = 1 + random.Below(60),
                           .machine_count = 1 + random.Below(6),
                           .width_max = 1 + random.Below(3),
                           .with_dates = seed % 2 == 0},
                          random);
    const Schedule schedule = MakeListSchedule(problem, {.noise = 0.2}, random);
    ASSERT_TRUE(CheckSchedule(problem, schedule).ok());
    EXPECT_LE(CriticalPathBound(problem), schedule.makespan);
    EXPECT_LE(OneMachineBound(problem), schedule.makespan);
    EXPECT_LE(MachineLoadBound(problem, schedule.makespan + 1),
              schedule.makespan);
  }
}

TEST(BoundsTest, ALoadBoundWithoutTimeHolds) {
  Random random(5);
  const Problem problem = MakeRandomProblem({.operation_count = 50}, random);
  const int64_t hasty = MachineLoadBound(problem, Problem::kMaxTime, 0);
  EXPECT_GT(hasty, 0);
  EXPECT_LE(hasty, MachineLoadBound(problem, Problem::kMaxTime));
}

TEST(BoundsTest, ExcessLoadsAddToTheLoadBound) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(
        {.operation_count = 1 + random.Below(60), .machine_count = 4}, random);
    std::vector<double> prices;
    const int64_t bound =
        MachineLoadBound(problem, Problem::kMaxTime, kInfiniteFuture, &prices);
    ASSERT_EQ(prices.size(), 4);
    const std::vector<double> excess = ExcessLoads(problem, prices);
    const Schedule schedule = MakeListSchedule(problem, {.noise = 0.5}, random);
    double sum = 0;
    size_t first = 0;
    for (size_t v = 0; v < problem.operations.size(); ++v) {
      const size_t count = problem.operations[v].alternatives.size();
      const auto own = excess.begin() + static_cast<ptrdiff_t>(first);
      EXPECT_EQ(*std::min_element(own, own + static_cast<ptrdiff_t>(count)), 0);
      sum += excess[first + schedule.entries[v].alternative];
      first += count;
    }
    ASSERT_EQ(first, excess.size());
    const double dearest = *std::max_element(prices.begin(), prices.end());
    EXPECT_LE(static_cast<double>(bound) - 2 + sum * dearest,
              static_cast<double>(schedule.makespan));
  }
}

TEST(BoundsTest, NoExcessWithoutPrices) {
  Problem problem;
  problem.machine_count = 2;
  problem.operations.push_back({{{{0}, 10}, {{1}, 20}}});
  EXPECT_EQ(ExcessLoads(problem, {}), (std::vector<double>{0, 0}));
  EXPECT_EQ(ExcessLoads(problem, {0.5, 0.5}), (std::vector<double>{0, 10}));
}

// Machines are busy throughout, and each is slow at something: what counts is
// the load that choices make. A search by paths alone stays 5 % above the
// bound.
TEST(SolverTest, KeepsChoicesThriftyWhereMachinesAreBusy) {
  constexpr uint32_t kJobCount = 30;
  constexpr uint32_t kOperationsOfJob = 12;
  Random random(3);
  Problem problem;
  problem.machine_count = 8;
  for (uint32_t v = 0; v < kJobCount * kOperationsOfJob; ++v) {
    Operation operation;
    const uint32_t first = random.Below(8);
    for (uint32_t a = 0; a < 3; ++a) {
      operation.alternatives.push_back(
          {{(first + a) % 8}, 20 + random.Below(80)});
    }
    problem.operations.push_back(std::move(operation));
    if (v % kOperationsOfJob != 0) problem.precedences.emplace_back(v - 1, v);
  }
  const absl::StatusOr<Solution> solution = Solve(problem, Steps(30'000));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_TRUE(CheckSchedule(problem, solution->schedule).ok());
  const auto bound = static_cast<double>(solution->lower_bound);
  EXPECT_LE(static_cast<double>(solution->schedule.makespan), 1.02 * bound);
}

TEST(ListScheduleTest, GivesUpAtItsDeadline) {
  Random random(1);
  const Problem problem = MakeRandomProblem({.operation_count = 20}, random);
  EXPECT_EQ(MakeListSchedule(problem, {.deadline_ns = 0}, random).makespan,
            kGivenUp);
}

TEST(SolverTest, GivesAPlanWhenThereIsNoTime) {
  Random random(1);
  const Problem problem =
      MakeRandomProblem({.operation_count = 50, .width_max = 2}, random);
  SolverOptions options;
  options.time_limit_ns = 0;
  const absl::StatusOr<Solution> solution = Solve(problem, options);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_TRUE(CheckSchedule(problem, solution->schedule).ok());
  EXPECT_LE(solution->lower_bound, solution->schedule.makespan);
}

// Whether two cores are better than one depends on how much faster they are,
// and on the number of machines.
TEST(SolverTest, TheFirstScheduleHasAWeightOfWorkThatFits) {
  for (const int percent : {50, 60, 70, 80}) {
    Random random(5);
    Problem problem;
    problem.machine_count = 8;
    for (uint32_t v = 0; v < 400; ++v) {
      Operation operation;
      const int64_t duration = 100 + random.Below(900);
      for (uint32_t m = 0; m < problem.machine_count; ++m) {
        const int64_t own = m < 4 ? duration : 2 * duration;
        operation.alternatives.push_back({{m}, own});
        if (m % 2 == 0) {
          operation.alternatives.push_back({{m, m + 1}, own * percent / 100});
        }
      }
      problem.operations.push_back(std::move(operation));
      if (v % 40 != 0) problem.precedences.emplace_back(v - 1, v);
    }
    const absl::StatusOr<Solution> solution = Solve(problem, Steps(1));
    ASSERT_TRUE(solution.ok()) << solution.status();
    int64_t best = std::numeric_limits<int64_t>::max();
    for (double weight = 1; weight < 100; weight *= 1.2) {
      best = std::min(
          best,
          MakeListSchedule(problem, {.work_weight = weight}, random).makespan);
    }
    EXPECT_LE(static_cast<double>(solution->schedule.makespan),
              1.01 * static_cast<double>(best))
        << percent;
  }
}

TEST(ListScheduleTest, WorkWeightKeepsOperationsNarrow) {
  // Two that each take one machine for 10 or both for 8.
  Problem problem;
  problem.machine_count = 2;
  for (int i = 0; i < 2; ++i) {
    problem.operations.push_back({{{{0}, 10}, {{1}, 10}, {{0, 1}, 8}}});
  }
  Random random(1);
  EXPECT_EQ(MakeListSchedule(problem, {}, random).makespan, 16);
  const Schedule narrow = MakeListSchedule(problem, {.work_weight = 4}, random);
  EXPECT_TRUE(CheckSchedule(problem, narrow).ok());
  EXPECT_EQ(narrow.makespan, 10);
}

TEST(BoundsTest, LoadIsSpreadOverMachines) {
  Problem problem;
  problem.machine_count = 4;
  for (int i = 0; i < 8; ++i) {
    problem.operations.push_back(
        {{{{0}, 10}, {{1}, 10}, {{2}, 10}, {{3}, 10}}});
  }
  EXPECT_EQ(MachineLoadBound(problem, 1000), 20);
}

// Each machine waits for its first operation, and a tail follows its last one;
// a machine without operations waits for nothing.
TEST(BoundsTest, LoadIsSpreadBesideReleasesAndTails) {
  Problem problem;
  problem.machine_count = 3;
  problem.operations.assign(4, {{{{0}, 10}, {{1}, 10}}, 3, 4});
  EXPECT_EQ(MachineLoadBound(problem, 1000), 27);
  problem.operations[0].release = 5;
  EXPECT_EQ(MachineLoadBound(problem, 1000), 27);
  // 7 + x = 20 + (40 - x): these may start at once, and nothing follows them.
  for (int i = 0; i < 4; ++i) problem.operations.push_back({{{{1}, 5}}});
  EXPECT_EQ(MachineLoadBound(problem, 1000), 34);
}

// The optimum of the fractional problem is 124.61: 40 / (1/7 + 1/11 + ...).
TEST(BoundsTest, LoadIsSpreadBySpeed) {
  Problem problem;
  problem.machine_count = 4;
  for (int i = 0; i < 40; ++i) {
    problem.operations.push_back({{{{0}, 7}, {{1}, 11}, {{2}, 13}, {{3}, 97}}});
  }
  EXPECT_EQ(MachineLoadBound(problem, 1000), 125);
}

TEST(BoundsTest, OneMachineKnowsReleasesAndTails) {
  Problem problem;
  problem.machine_count = 1;
  problem.operations = {{{{{0}, 5}}, 0, 10}, {{{{0}, 5}}, 3, 0}};
  EXPECT_EQ(OneMachineBound(problem), 15);
  problem.operations[1].tail = 10;
  EXPECT_EQ(OneMachineBound(problem), 20);
}

}  // namespace
}  // namespace takt::solve
