// Tabu search on a disjunctive graph: at each step the best move of an
// operation of a critical path that is not tabu. A move is as good as the
// longer of two paths afterwards, that through the operation and that which
// closes where it was: what takes a short operation far away gains little.
// A move forbids the operation to go back to the alternative that it left, for
// about as many steps as the path is long (Mastrolilli and Gambardella 2000).
//
// Paths say little of what a choice costs in the end. Where machines are busy
// throughout, a schedule ends no earlier than the load that its choices make:
// an operation that takes longer where it is moved to takes time from all that
// is there. So a move is worth less by the load that it adds beyond need
// (ExcessLoads() in bounds.h, which goes by the prices of the load bound's
// dual), times the search's thrift. How much thrift serves best differs from
// problem to problem; where paths decide, none.
//
// Thread-safety: none; one search a thread.
#ifndef TAKT_SOLVE_TABU_SEARCH_H_
#define TAKT_SOLVE_TABU_SEARCH_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "solve/disjunctive_graph.h"

namespace takt::solve {

class TabuSearch {
 public:
  // `excess_loads` is ExcessLoads() of the graph's problem.
  TabuSearch(DisjunctiveGraph& graph, std::vector<double> excess_loads,
             uint64_t seed);

  struct Limits {
    int64_t deadline_ns = 0;   // Of NowNs().
    int64_t enough = 0;        // Stops at a makespan as good as this.
    uint64_t stall_steps = 0;  // Stops after so many steps without a new best.
    // Drawn anew every so often if not given.
    std::optional<double> thrift = std::nullopt;
  };

  // Searches from what the graph holds, and leaves the best found in *best
  // (which may be better already). True if it got better.
  bool Run(const Limits& limits, DisjunctiveGraph::State* best);

  // Random moves of critical operations, away from here; fewer if the deadline
  // (of NowNs()) is over.
  void Perturb(uint32_t move_count, int64_t deadline_ns);

  static double DrawThrift(Random& random);

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
  double thrift_ = 0;
  const std::vector<double> excess_loads_;  // By operation and alternative.
  std::vector<uint32_t> first_alternative_;
  std::vector<uint64_t> tabu_until_;  // Step, by operation and alternative.
  std::vector<uint32_t> path_;
  // The operations of path_, each with the length that no move of it
  // undercuts.
  std::vector<std::pair<int64_t, uint32_t>> floors_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_TABU_SEARCH_H_
