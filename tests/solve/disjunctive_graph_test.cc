// Goal: after any moves the graph is a feasible schedule with right heads and
// tails; a move's value is at least the length of the longest path through its
// operation; no move undercuts its floor, and none of those that a block leaves
// out makes the schedule shorter; an exchange makes no cycle. Method: random
// walks on random problems; each step is compared with the checker and with
// paths computed anew.
#include "solve/disjunctive_graph.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "solve/list_schedule.h"
#include "tests/solve/random_problem.h"

namespace takt::solve {
namespace {

using Move = DisjunctiveGraph::Move;
using Way = DisjunctiveGraph::Way;

int64_t NoLimit(uint32_t, Way) { return std::numeric_limits<int64_t>::max(); }

class DisjunctiveGraphTest
    : public ::testing::TestWithParam<RandomProblemOptions> {};

TEST_P(DisjunctiveGraphTest, RandomWalksStayFeasible) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(GetParam(), random);
    ASSERT_TRUE(problem.Validate().ok());
    DisjunctiveGraph graph(problem);
    DisjunctiveGraph fresh(problem);
    graph.LoadSchedule(MakeListSchedule(problem, {}, random));
    const auto pick = [&random](uint32_t n) { return random.Below(n); };
    for (int step = 0; step < 60; ++step) {
      std::vector<Move> moves;
      const uint32_t v = random.Below(graph.operation_count());
      graph.ForEachMove(v, {v, v}, NoLimit, pick,
                        [&moves](const Move& move) { moves.push_back(move); });
      if (moves.empty()) continue;
      const Move move = moves[random.Below(moves.size())];
      const int64_t floor = graph.LengthWithout(v);
      graph.Apply(move);
      ASSERT_GE(graph.makespan(), floor) << "seed " << seed << " step " << step;
      ASSERT_LE(graph.head(v) + graph.duration(v) + graph.tail(v), move.value)
          << "seed " << seed << " step " << step;
      DisjunctiveGraph::State state;
      graph.Save(&state);
      fresh.Load(state);
      ASSERT_EQ(graph.makespan(), fresh.makespan());
      int64_t path_sum = 0;
      for (uint32_t u = 0; u < graph.operation_count(); ++u) {
        ASSERT_EQ(graph.head(u), fresh.head(u)) << u << " seed " << seed;
        ASSERT_EQ(graph.tail(u), fresh.tail(u)) << u << " seed " << seed;
        path_sum += graph.head(u) + graph.duration(u) + graph.tail(u);
      }
      ASSERT_EQ(state.path_sum, static_cast<double>(path_sum));
      const absl::Status status = CheckSchedule(problem, graph.ToSchedule());
      ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    }
  }
}

TEST(DisjunctiveGraphOrderTest, TheSumOfPathsDecidesBetweenEqualMakespans) {
  Problem problem;
  problem.machine_count = 2;
  problem.operations = {{.alternatives = {{{0}, 10}}},
                        {.alternatives = {{{0}, 5}, {{1}, 5}, {{1}, 9}}}};
  DisjunctiveGraph graph(problem);
  const auto state_of = [&](uint32_t alternative, int64_t start) {
    Schedule schedule;
    schedule.entries = {{0, 0}, {alternative, start}};
    graph.LoadSchedule(schedule);
    DisjunctiveGraph::State state;
    graph.Save(&state);
    return state;
  };
  const DisjunctiveGraph::State longer = state_of(0, 10);
  const DisjunctiveGraph::State tight = state_of(2, 0);
  const DisjunctiveGraph::State loose = state_of(1, 0);
  ASSERT_EQ(tight.makespan, loose.makespan);
  EXPECT_TRUE(loose.IsBetterThan(tight));
  EXPECT_FALSE(tight.IsBetterThan(loose));
  EXPECT_FALSE(loose.IsBetterThan(loose));
  EXPECT_TRUE(tight.IsBetterThan(longer));
  EXPECT_FALSE(longer.IsBetterThan(tight));
  graph.Load(loose);
  EXPECT_TRUE(graph.IsBetterThan(tight));
  EXPECT_FALSE(graph.IsBetterThan(loose));
  graph.Load(tight);
  EXPECT_FALSE(graph.IsBetterThan(loose));
  EXPECT_TRUE(graph.IsBetterThan(longer));
}

// In the sequence of v's first machine.
uint32_t IndexOf(const DisjunctiveGraph& graph, uint32_t v) {
  const uint32_t machine = graph.machines(v, graph.choice(v))[0];
  const absl::Span<const uint32_t> list = graph.sequence(machine);
  return static_cast<uint32_t>(std::find(list.begin(), list.end(), v) -
                               list.begin());
}

Way WayOf(const DisjunctiveGraph& graph, const Move& move) {
  const uint32_t v = move.operation;
  if (move.alternative != graph.choice(v) ||
      graph.machines(v, move.alternative).size() > 1) {
    return Way::kElsewhere;
  }
  return move.position > IndexOf(graph, v) ? Way::kLater : Way::kEarlier;
}

// Of equally good places in a row pick() names one, so it is the first.
TEST_P(DisjunctiveGraphTest, ALimitLeavesOutWhatIsAboveItAndNothingElse) {
  const auto first = [](uint32_t) { return 0; };
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(GetParam(), random);
    DisjunctiveGraph graph(problem);
    graph.LoadSchedule(MakeListSchedule(problem, {}, random));
    for (int step = 0; step < 60; ++step) {
      const uint32_t v = random.Below(graph.operation_count());
      std::vector<Move> all;
      graph.ForEachMove(v, {v, v}, NoLimit, first,
                        [&all](const Move& move) { all.push_back(move); });
      if (all.empty()) continue;
      const int64_t limit = all[random.Below(all.size())].value;
      const uint32_t shut = random.Below(graph.alternative_count(v));
      const auto shut_way = static_cast<Way>(random.Below(3));
      std::vector<Move> expected, found;
      for (const Move& move : all) {
        if (move.value <= limit && move.alternative != shut &&
            WayOf(graph, move) != shut_way) {
          expected.push_back(move);
        }
      }
      graph.ForEachMove(
          v, {v, v},
          [&](uint32_t a, Way way) {
            return a == shut || way == shut_way ? -1 : limit;
          },
          first, [&found](const Move& move) { found.push_back(move); });
      ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].alternative, expected[i].alternative);
        EXPECT_EQ(found[i].position, expected[i].position);
        EXPECT_EQ(found[i].value, expected[i].value);
      }
      graph.Apply(all[random.Below(all.size())]);
    }
  }
}

TEST_P(DisjunctiveGraphTest, EnumeratingMovesChangesNothing) {
  Random random(7);
  const Problem problem = MakeRandomProblem(GetParam(), random);
  DisjunctiveGraph graph(problem);
  graph.LoadSchedule(MakeListSchedule(problem, {}, random));
  DisjunctiveGraph::State before, after;
  graph.Save(&before);
  const auto pick = [&random](uint32_t n) { return random.Below(n); };
  for (uint32_t v = 0; v < graph.operation_count(); ++v) {
    graph.ForEachMove(v, {v, v}, NoLimit, pick, [](const Move&) {});
  }
  graph.Save(&after);
  EXPECT_EQ(before.sequences, after.sequences);
  EXPECT_EQ(before.choice, after.choice);
  graph.Load(after);
  EXPECT_EQ(graph.makespan(), before.makespan);
}

TEST_P(DisjunctiveGraphTest, ACriticalPathIsCritical) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(GetParam(), random);
    DisjunctiveGraph graph(problem);
    graph.LoadSchedule(MakeListSchedule(problem, {}, random));
    std::vector<uint32_t> path;
    graph.CriticalPath([&random](uint32_t n) { return random.Below(n); },
                       &path);
    ASSERT_FALSE(path.empty());
    for (const uint32_t v : path) EXPECT_TRUE(graph.IsCritical(v)) << v;
  }
}

TEST_P(DisjunctiveGraphTest, MovesThatEndWithinABlockAreLeftOutAndNoOthers) {
  const auto first = [](uint32_t) { return 0; };
  uint32_t left_out = 0;
  uint32_t raised = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(GetParam(), random);
    DisjunctiveGraph graph(problem);
    graph.LoadSchedule(MakeListSchedule(problem, {}, random));
    std::vector<uint32_t> path;
    graph.CriticalPath(first, &path);
    std::vector<DisjunctiveGraph::Block> blocks;
    graph.Blocks(path, &blocks);
    ASSERT_EQ(blocks.size(), path.size());
    for (size_t i = 0; i < path.size(); ++i) {
      const uint32_t v = path[i];
      const DisjunctiveGraph::Block& block = blocks[i];
      std::vector<Move> all, found;
      graph.ForEachMove(v, {v, v}, NoLimit, first,
                        [&all](const Move& move) { all.push_back(move); });
      graph.ForEachMove(v, block, NoLimit, first,
                        [&found](const Move& move) { found.push_back(move); });
      size_t next = 0;
      for (const Move& move : all) {
        const bool is_within = block.first != block.last &&
                               move.alternative == graph.choice(v) &&
                               move.position > IndexOf(graph, block.first) &&
                               move.position < IndexOf(graph, block.last);
        if (is_within) {
          ++left_out;
          DisjunctiveGraph other = graph;
          other.Apply(move);
          EXPECT_GE(other.makespan(), graph.makespan()) << "seed " << seed;
          continue;
        }
        ASSERT_LT(next, found.size()) << "seed " << seed;
        EXPECT_EQ(found[next].alternative, move.alternative);
        EXPECT_EQ(found[next].position, move.position);
        ++next;
      }
      const int64_t gap = graph.LengthWithout(v);
      const int64_t floor = graph.FloorOf(v, block);
      raised += floor > gap;
      for (const Move& move : found) {
        EXPECT_LE(floor, std::max(gap, move.value)) << "seed " << seed;
      }
      EXPECT_EQ(next, found.size()) << "seed " << seed;
    }
  }
  EXPECT_GT(left_out, 0);
  // On one machine, most operations can only leave their block along it.
  EXPECT_TRUE(raised > 0 || GetParam().machine_count > 1);
}

using Exchange = DisjunctiveGraph::Exchange;

// Where each operation takes one machine.
class ExchangeTest : public DisjunctiveGraphTest {};

TEST_P(ExchangeTest, ExchangesStayFeasibleAndWithinTheirLimit) {
  uint32_t made = 0;
  uint32_t made_behind = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const Problem problem = MakeRandomProblem(GetParam(), random);
    DisjunctiveGraph graph(problem);
    DisjunctiveGraph fresh(problem);
    graph.LoadSchedule(MakeListSchedule(problem, {}, random));
    for (int step = 0; step < 60; ++step) {
      const uint32_t v = random.Below(graph.operation_count());
      std::vector<Exchange> all, found;
      const auto no_limit = [](uint32_t, uint32_t) {
        return std::numeric_limits<int64_t>::max();
      };
      graph.ForEachExchange(v, no_limit, [&all](const Exchange& exchange) {
        all.push_back(exchange);
      });
      if (all.empty()) continue;
      const Exchange chosen = all[random.Below(all.size())];
      graph.ForEachExchange(
          v, [&](uint32_t, uint32_t) { return chosen.length; },
          [&found](const Exchange& exchange) { found.push_back(exchange); });
      EXPECT_EQ(found.size(),
                std::count_if(all.begin(), all.end(), [&](const Exchange& e) {
                  return e.length <= chosen.length;
                }));
      const uint32_t x = chosen.other;
      const uint32_t left = graph.machines(v, graph.choice(v))[0];
      const uint32_t other_left = graph.machines(x, graph.choice(x))[0];
      graph.Apply(chosen);
      ++made;
      made_behind += chosen.is_behind;
      EXPECT_EQ(graph.choice(v), chosen.alternative);
      EXPECT_EQ(graph.choice(x), chosen.other_alternative);
      EXPECT_EQ(graph.machines(v, graph.choice(v))[0], other_left);
      EXPECT_EQ(graph.machines(x, graph.choice(x))[0], left);
      DisjunctiveGraph::State state;
      graph.Save(&state);
      fresh.Load(state);
      ASSERT_EQ(graph.makespan(), fresh.makespan());
      const absl::Status status = CheckSchedule(problem, graph.ToSchedule());
      ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(made_behind, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DisjunctiveGraphTest,
    ::testing::Values(RandomProblemOptions{},
                      RandomProblemOptions{.width_max = 3},
                      RandomProblemOptions{.with_dates = true},
                      RandomProblemOptions{.operation_count = 150,
                                           .machine_count = 9,
                                           .width_max = 4,
                                           .with_dates = true},
                      RandomProblemOptions{.machine_count = 1}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, ExchangeTest,
    ::testing::Values(RandomProblemOptions{},
                      RandomProblemOptions{.with_dates = true},
                      RandomProblemOptions{.operation_count = 150,
                                           .machine_count = 9,
                                           .with_dates = true}));

}  // namespace
}  // namespace takt::solve
