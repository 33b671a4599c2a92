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

  // Of the best that some steps find, what its choices add to the load.
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

}  // namespace
}  // namespace takt::solve
