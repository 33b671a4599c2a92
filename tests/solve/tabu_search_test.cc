#include "solve/tabu_search.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "solve/bounds.h"
#include "solve/list_schedule.h"
#include "tests/solve/random_problem.h"

namespace takt::solve {
namespace {

// A problem whose machines are busy throughout, and a schedule of it.
class TabuSearchTest : public testing::Test {
 protected:
  TabuSearchTest() {
    Random random(7);
    problem_ =
        MakeRandomProblem({.operation_count = 120, .machine_count = 4}, random);
    std::vector<double> prices;
    MachineLoadBound(problem_, Problem::kMaxTime, kInfiniteFuture, &prices);
    excess_ = ExcessLoads(problem_, prices);
    start_ = MakeListSchedule(problem_, {}, random);
  }

  // The load that the choices of the best schedule add, after some steps.
  double ExcessAfterSearch(double thrift, uint64_t seed) {
    DisjunctiveGraph graph(problem_);
    graph.LoadSchedule(start_);
    TabuSearch search(graph, excess_, seed);
    DisjunctiveGraph::State best;
    best.makespan = std::numeric_limits<int64_t>::max();
    search.Run({.deadline_ns = kInfiniteFuture,
                .enough = 0,
                .stall_steps = 2'000,
                .thrift = thrift},
               &best);
    double sum = 0;
    size_t first = 0;
    for (uint32_t v = 0; v < graph.operation_count(); ++v) {
      sum += excess_[first + best.choice[v]];
      first += graph.alternative_count(v);
    }
    return sum;
  }

  Problem problem_;
  std::vector<double> excess_;
  Schedule start_;
};

TEST_F(TabuSearchTest, ThriftKeepsChoicesCheap) {
  double thrifty = 0;
  double other = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    thrifty += ExcessAfterSearch(8, seed);
    other += ExcessAfterSearch(0, seed);
  }
  EXPECT_LT(thrifty, 0.8 * other);
}

TEST_F(TabuSearchTest, PerturbationEndsWithTheTime) {
  DisjunctiveGraph graph(problem_);
  graph.LoadSchedule(start_);
  DisjunctiveGraph::State before;
  graph.Save(&before);
  TabuSearch search(graph, excess_, 1);
  search.Perturb(1'000'000'000, 0);
  DisjunctiveGraph::State after;
  graph.Save(&after);
  EXPECT_EQ(after.sequences, before.sequences);
  search.Perturb(10, kInfiniteFuture);
  graph.Save(&after);
  EXPECT_NE(after.sequences, before.sequences);
}

// Each of the second operations is on the machine where it takes longer. The
// other machine has no room for it as long as the other operation is there.
TEST(TabuSearchExchangeTest, OneStepExchangesOperationsOfTwoMachines) {
  Problem problem;
  problem.machine_count = 2;
  problem.operations = {{.alternatives = {{{0}, 10}}},
                        {.alternatives = {{{0}, 6}, {{1}, 4}}},
                        {.alternatives = {{{1}, 10}}},
                        {.alternatives = {{{1}, 6}, {{0}, 4}}}};
  problem.precedences = {{0, 1}, {2, 3}};
  Schedule start;
  start.entries = {{0, 0}, {0, 10}, {0, 0}, {0, 10}};
  DisjunctiveGraph graph(problem);
  graph.LoadSchedule(start);
  ASSERT_EQ(graph.makespan(), 16);
  TabuSearch search(graph, std::vector<double>(6, 0), 1);
  DisjunctiveGraph::State best;
  graph.Save(&best);
  search.Run({.deadline_ns = kInfiniteFuture,
              .stall_steps = 2,
              .step_limit = 1,
              .thrift = 0},
             &best);
  EXPECT_EQ(best.makespan, 14);
}

// The last operation takes as long on either of its machines. On the first one
// it follows another operation, whose path is longer then.
class TabuSearchEqualTest : public testing::Test {
 protected:
  TabuSearchEqualTest() {
    problem_.machine_count = 3;
    problem_.operations = {{.alternatives = {{{0}, 10}}},
                           {.alternatives = {{{1}, 5}}},
                           {.alternatives = {{{1}, 10}, {{2}, 10}}}};
    problem_.precedences = {{0, 2}};
  }

  // The alternative of the best schedule after a search that ends with its
  // first step that makes the schedule no shorter.
  uint32_t ChoiceAfterStepFrom(uint32_t alternative) {
    DisjunctiveGraph graph(problem_);
    Schedule start;
    start.entries = {{0, 0}, {0, 0}, {alternative, 10}};
    graph.LoadSchedule(start);
    DisjunctiveGraph::State best;
    graph.Save(&best);
    TabuSearch search(graph, std::vector<double>(4, 0), 1);
    const bool is_better = search.Run(
        {.deadline_ns = kInfiniteFuture, .stall_steps = 1, .thrift = 0}, &best);
    EXPECT_EQ(search.step_count(), 1);
    EXPECT_NE(graph.choice(2), alternative);
    EXPECT_EQ(best.makespan, 20);
    EXPECT_EQ(is_better, best.choice[2] != alternative);
    return best.choice[2];
  }

  Problem problem_;
};

TEST_F(TabuSearchEqualTest, KeepsTheScheduleThatLeavesMoreRoom) {
  EXPECT_EQ(ChoiceAfterStepFrom(0), 1);
  EXPECT_EQ(ChoiceAfterStepFrom(1), 1);
}

// Operations of one machine, in any order as good. Those that a move passes
// could undo it at once.
TEST(TabuSearchWayTest, NoStepUndoesTheOneBefore) {
  Problem problem;
  problem.machine_count = 1;
  Schedule start;
  for (uint32_t v = 0; v < 5; ++v) {
    problem.operations.push_back({.alternatives = {{{0}, 10}}});
    start.entries.push_back({0, 10 * v});
  }
  DisjunctiveGraph graph(problem);
  graph.LoadSchedule(start);
  TabuSearch search(graph, std::vector<double>(5, 0), 1);
  DisjunctiveGraph::State before, last, now;
  graph.Save(&now);
  for (int step = 0; step < 1000; ++step) {
    before = last;
    last = now;
    DisjunctiveGraph::State best = now;
    search.Run({.deadline_ns = kInfiniteFuture,
                .stall_steps = 2,
                .step_limit = search.step_count() + 1,
                .thrift = 0},
               &best);
    graph.Save(&now);
    ASSERT_NE(now.sequences, last.sequences) << step;
    ASSERT_NE(now.sequences, before.sequences) << step;
  }
}

// A chain of operations, each with two machines of its own on which it takes
// as long: no step changes the makespan. A move of the last operation costs
// much. As there are enough others that are not tabu, it never is the best.
TEST(TabuSearchLevelTest, ALevelSearchLeavesMovesOutAfterAWhile) {
  constexpr uint32_t kCheap = 20;
  constexpr uint64_t kStepsBefore = 100;
  constexpr uint64_t kSteps = 20'000;
  Problem problem;
  problem.machine_count = 2 * (kCheap + 1);
  Schedule start;
  std::vector<double> excess;
  for (uint32_t v = 0; v <= kCheap; ++v) {
    problem.operations.push_back(
        {.alternatives = {{{2 * v}, 10}, {{2 * v + 1}, 10}}});
    if (v > 0) problem.precedences.emplace_back(v - 1, v);
    start.entries.push_back({0, 10 * v});
    excess.push_back(0);
    excess.push_back(v < kCheap ? 1 : 1'000);
  }
  DisjunctiveGraph graph(problem);
  graph.LoadSchedule(start);
  TabuSearch search(graph, excess, 1);
  uint64_t moved = 0;  // The first step that moved the last operation.
  while (moved == 0 && search.step_count() < kSteps) {
    DisjunctiveGraph::State best;
    graph.Save(&best);
    search.Run({.deadline_ns = kInfiniteFuture,
                .stall_steps = kSteps,
                .step_limit = search.step_count() + 1,
                .thrift = 1},
               &best);
    if (graph.choice(kCheap) != 0) moved = search.step_count();
  }
  EXPECT_GT(moved, kStepsBefore);
}

}  // namespace
}  // namespace takt::solve
