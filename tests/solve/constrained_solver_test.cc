// Problems with side constraints, and weighted tardiness: the solver beside a
// search that tries every start.
#include <algorithm>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "solve/bounds.h"
#include "solve/constrained_schedule.h"
#include "solve/solver.h"
#include "tests/solve/random_problem.h"

namespace takt::solve {
namespace {

// Limited by steps alone, so that a slow machine changes nothing.
SolverOptions Steps(uint64_t step_limit, Objective objective) {
  SolverOptions options;
  options.time_limit_ns = int64_t{3600} * 1'000'000'000;
  options.step_limit = step_limit;
  options.objective = objective;
  return options;
}

int64_t ObjectiveOf(const Problem& problem, const Schedule& schedule,
                    Objective objective) {
  return objective == Objective::kMakespan
             ? schedule.makespan
             : WeightedTardiness(problem, schedule);
}

// The optimum by trying every start and every choice; what is feasible is the
// checker's to say. All times are small.
class EveryStart {
 public:
  EveryStart(const Problem& problem, Objective objective, int64_t upper)
      : problem_(problem), objective_(objective), best_(upper) {
    schedule_.entries.resize(problem.operations.size());
    for (const Setup& setup : problem.setups) {
      horizon_ = std::max(horizon_, setup.time);
    }
    horizon_ *= static_cast<int64_t>(problem.operations.size());
    int64_t release = 0;
    for (const Operation& operation : problem.operations) {
      int64_t longest = 0;
      for (const Alternative& a : operation.alternatives) {
        longest = std::max(longest, a.duration);
      }
      horizon_ += longest;
      release = std::max(release, operation.release);
    }
    horizon_ += release;
  }

  int64_t Find() {
    Place(0, 0);
    return best_;
  }

 private:
  int64_t End(uint32_t v) const {
    const Schedule::Entry& entry = schedule_.entries[v];
    return entry.start +
           problem_.operations[v].alternatives[entry.alternative].duration;
  }

  // The operations are in a topological order.
  void Place(uint32_t v, int64_t makespan) {
    if (v == problem_.operations.size()) {
      schedule_.makespan = makespan;
      if (!CheckSchedule(problem_, schedule_).ok()) return;
      best_ = std::min(best_, ObjectiveOf(problem_, schedule_, objective_));
      return;
    }
    const Operation& operation = problem_.operations[v];
    for (uint32_t a = 0; a < operation.alternatives.size(); ++a) {
      for (int64_t start = First(v); start <= horizon_; ++start) {
        schedule_.entries[v] = {a, start};
        const int64_t end = std::max(makespan, End(v) + operation.tail);
        // Later is no better.
        if (objective_ == Objective::kMakespan && end >= best_) break;
        const int64_t late = std::max<int64_t>(End(v) - operation.due, 0);
        if (objective_ != Objective::kMakespan &&
            tardiness_ + operation.weight * late >= best_) {
          break;
        }
        if (!Collides(v)) {
          tardiness_ += operation.weight * late;
          Place(v + 1, end);
          tardiness_ -= operation.weight * late;
        }
      }
    }
  }

  int64_t First(uint32_t v) const {
    int64_t first = problem_.operations[v].release;
    for (const auto& [before, after] : problem_.precedences) {
      if (after == v) first = std::max(first, End(before));
    }
    return first;
  }

  bool Collides(uint32_t v) const {
    const auto machines = [this](uint32_t u) {
      return problem_.operations[u]
          .alternatives[schedule_.entries[u].alternative]
          .machines;
    };
    for (const auto& [before, after] : problem_.no_waits) {
      if (after == v && End(before) != schedule_.entries[v].start) return true;
    }
    for (uint32_t u = 0; u < v; ++u) {
      if (End(u) <= schedule_.entries[v].start ||
          End(v) <= schedule_.entries[u].start) {
        continue;
      }
      for (const uint32_t machine : machines(u)) {
        const std::vector<uint32_t> own = machines(v);
        if (std::find(own.begin(), own.end(), machine) != own.end()) {
          return true;
        }
      }
    }
    return false;
  }

  const Problem& problem_;
  const Objective objective_;
  int64_t best_;
  int64_t horizon_ = 0;  // A schedule that wastes no time has ended.
  int64_t tardiness_ = 0;
  Schedule schedule_;
};

// Each kind of constraint alone and together, by the bits of `kinds`.
Problem SmallProblem(uint32_t kinds, uint64_t seed) {
  Random random(seed);
  return MakeRandomProblem({.operation_count = 5,
                            .machine_count = 2,
                            .width_max = 1 + random.Below(2),
                            .duration_range = 3,
                            .with_dates = (kinds & 4) != 0,
                            .date_range = 4,
                            .with_setups = (kinds & 1) != 0,
                            .with_no_waits = (kinds & 2) != 0,
                            .with_dues = true},
                           random);
}

void FindsTheOptimum(Objective objective) {
  uint32_t late = 0;
  for (uint32_t kinds = 0; kinds < 8; ++kinds) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const Problem problem = SmallProblem(kinds, 100 * kinds + seed);
      ASSERT_TRUE(problem.Validate().ok()) << problem.Validate();
      const auto solution = Solve(problem, Steps(6000, objective));
      ASSERT_TRUE(solution.ok()) << solution.status();
      const absl::Status status = CheckSchedule(problem, solution->schedule);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(solution->weighted_tardiness,
                WeightedTardiness(problem, solution->schedule));
      EXPECT_EQ(solution->objective_value,
                ObjectiveOf(problem, solution->schedule, objective));
      EveryStart every(problem, objective, solution->objective_value);
      const int64_t optimum = every.Find();
      EXPECT_EQ(solution->objective_value, optimum)
          << "kinds " << kinds << " seed " << seed;
      EXPECT_LE(solution->lower_bound, optimum)
          << "kinds " << kinds << " seed " << seed;
      late += solution->weighted_tardiness > 0;
    }
  }
  EXPECT_GT(late, 10);  // The due dates matter.
}

TEST(ConstrainedSolverTest, FindsTheLeastMakespanOfSmallProblems) {
  FindsTheOptimum(Objective::kMakespan);
}

TEST(ConstrainedSolverTest, FindsTheLeastTardinessOfSmallProblems) {
  FindsTheOptimum(Objective::kWeightedTardiness);
}

Problem LargeProblem(uint64_t seed, uint32_t operation_count) {
  Random random(seed);
  return MakeRandomProblem({.operation_count = operation_count,
                            .machine_count = 1 + random.Below(6),
                            .width_max = 1 + random.Below(3),
                            .with_dates = seed % 2 == 0,
                            .with_setups = seed % 3 != 0,
                            .with_no_waits = seed % 4 != 0,
                            .with_dues = true},
                           random);
}

TEST(ConstrainedSolverTest, SchedulesPassTheCheck) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = LargeProblem(seed, 40);
    const Objective objective =
        seed % 2 == 0 ? Objective::kMakespan : Objective::kWeightedTardiness;
    const auto solution = Solve(problem, Steps(300, objective));
    ASSERT_TRUE(solution.ok()) << solution.status();
    const absl::Status status = CheckSchedule(problem, solution->schedule);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(solution->weighted_tardiness,
              WeightedTardiness(problem, solution->schedule));
    EXPECT_LE(solution->lower_bound, solution->objective_value);
    EXPECT_LE(SetupBound(problem), solution->schedule.makespan);
    EXPECT_LE(TardinessBound(problem), solution->weighted_tardiness);
  }
}

TEST(ConstrainedSolverTest, TheSameSeedGivesTheSameSchedule) {
  const Problem problem = LargeProblem(7, 60);
  const SolverOptions options = Steps(2000, Objective::kWeightedTardiness);
  const auto a = Solve(problem, options);
  const auto b = Solve(problem, options);
  ASSERT_TRUE(a.ok() && b.ok());
  for (size_t v = 0; v < problem.operations.size(); ++v) {
    EXPECT_EQ(a->schedule.entries[v].start, b->schedule.entries[v].start);
    EXPECT_EQ(a->schedule.entries[v].alternative,
              b->schedule.entries[v].alternative);
  }
}

TEST(ConstrainedSolverTest, IsNeverWorseThanItsStart) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Problem problem = LargeProblem(seed, 40);
    if (problem.setups.empty()) {  // Some operations take no time.
      for (Operation& operation : problem.operations) {
        for (Alternative& a : operation.alternatives) a.duration /= 10;
      }
    }
    SolverOptions options = Steps(2000, Objective::kWeightedTardiness);
    const auto found = Solve(problem, options);
    ASSERT_TRUE(found.ok()) << found.status();
    options.step_limit = 1;
    options.seed = seed + 1;
    options.start = found->schedule;
    options.thread_count = 2;
    const auto again = Solve(problem, options);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_LE(again->weighted_tardiness, found->weighted_tardiness);
    EXPECT_TRUE(CheckSchedule(problem, again->schedule).ok());
  }
}

TEST(ConstrainedSolverTest, GivesAScheduleWhenThereIsNoTime) {
  SolverOptions options;
  options.time_limit_ns = 0;
  options.objective = Objective::kWeightedTardiness;
  const Problem problem = LargeProblem(5, 100);
  const auto solution = Solve(problem, options);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_TRUE(CheckSchedule(problem, solution->schedule).ok());
  EXPECT_TRUE(Solve(Problem(), options).ok());
}

// One machine alternates between programs as the list says. Changing it once is
// enough.
TEST(ConstrainedSolverTest, KeepsAProgramForAsLongAsItCan) {
  Problem problem;
  problem.machine_count = 1;
  for (uint32_t i = 0; i < 20; ++i) {
    problem.operations.push_back({{{{0}, 10}}, 0, 0, /*family=*/i % 2});
  }
  problem.setups = {{0, 0, 1, 30},
                    {0, 1, 0, 30},
                    {0, Setup::kFirst, 0, 7},
                    {0, Setup::kFirst, 1, 5}};
  const auto solution = Solve(problem, Steps(20'000, Objective::kMakespan));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->schedule.makespan, 235);
  EXPECT_TRUE(solution->optimal());
}

TEST(BoundsTest, EachFamilyIsEnteredOnce) {
  Problem problem;
  problem.machine_count = 2;
  problem.operations = {
      {{{{0}, 3}}, 4, 0, 0}, {{{{0}, 3}}, 6, 2, 1}, {{{{0}, 3}}, 6, 1, 2}};
  for (uint32_t from = 0; from < 3; ++from) {
    for (uint32_t to = 0; to < 3; ++to) {
      if (from != to) problem.setups.push_back({0, from, to, 10 + to});
    }
  }
  // Family 2, the dearest to enter, is first.
  EXPECT_EQ(SetupBound(problem), 4 + 9 + 10 + 11);
  // Then family 1 is, if that is dear at first.
  problem.setups.push_back({0, Setup::kFirst, 2, 8});
  EXPECT_EQ(SetupBound(problem), 4 + 9 + 10 + 12);
  // Another operation may have changed the program before.
  problem.operations.push_back({{{{0}, 1}, {{1}, 1}}, 0, 0, 2});
  EXPECT_EQ(SetupBound(problem), 4 + 9 + 10 + 11);
}

TEST(BoundsTest, TardinessOfPathsAndOfMachines) {
  Problem problem;
  problem.machine_count = 2;
  problem.operations = {{{{{0}, 5}}, 2, 0, 0, /*due=*/4, /*weight=*/3},
                        {{{{1}, 5}}, 0, 0, 0, /*due=*/9, /*weight=*/2}};
  problem.precedences = {{0, 1}};
  EXPECT_EQ(TardinessBound(problem), 3 * 3 + 3 * 2);
  problem.precedences = {};
  problem.operations = {{{{{0}, 5}}, 0, 0, 0, /*due=*/6, /*weight=*/3},
                        {{{{0}, 5}}, 0, 0, 0, /*due=*/6, /*weight=*/2}};
  EXPECT_EQ(TardinessBound(problem), 4 * 2);
}

}  // namespace
}  // namespace takt::solve
