// Tabu search on a disjunctive graph: at each step the best move of an
// operation of a critical path that is not tabu. A move is as good as the
// longer of two paths afterwards, that through the operation and that which
// closes where it was: what takes a short operation far away gains little.
// A move forbids the operation to go back to the alternative that it left, for
// some multiple of as many steps as the path is long (Mastrolilli and
// Gambardella 2000). Which multiple serves best differs from problem to
// problem, so another is drawn every so often.
//
// Thread-safety: none; one search a thread.
#ifndef TAKT_PLAN_TABU_SEARCH_H_
#define TAKT_PLAN_TABU_SEARCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "plan/disjunctive_graph.h"

namespace takt::plan {

class TabuSearch {
 public:
  TabuSearch(DisjunctiveGraph& graph, uint64_t seed);

  struct Limits {
    int64_t deadline_ns = 0;   // Of NowNs().
    int64_t enough = 0;        // Stops at a makespan as good as this.
    uint64_t stall_steps = 0;  // Stops after so many steps without a new best.
  };

  // Searches from what the graph holds, and leaves the best found in *best
  // (which may be better already). True if it got better.
  bool Run(const Limits& limits, DisjunctiveGraph::State* best);

  // Random moves of critical operations: away from here, not far.
  void Perturb(uint32_t move_count);

  uint64_t step_count() const { return steps_; }

 private:
  // False if nothing can move, or time was over on the way.
  bool Step(int64_t best_makespan, int64_t deadline_ns);
  uint64_t& TabuUntil(uint32_t v, uint32_t alternative) {
    return tabu_until_[first_alternative_[v] + alternative];
  }

  DisjunctiveGraph& graph_;
  Random random_;
  uint64_t steps_ = 0;
  uint32_t tenure_percent_ = 100;
  std::vector<uint32_t> first_alternative_;
  std::vector<uint64_t> tabu_until_;  // Step, by operation and alternative.
  std::vector<uint32_t> path_;
  // The operations of path_ by the length that no move of them undercuts.
  std::vector<std::pair<int64_t, uint32_t>> by_floor_;
};

}  // namespace takt::plan

#endif  // TAKT_PLAN_TABU_SEARCH_H_
