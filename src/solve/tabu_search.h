// Tabu search on a disjunctive graph. Each step makes the best move of an
// operation of a critical path that is not tabu. The value of a move is the
// longer of two paths after it: the path through the operation, and the path
// that closes where the operation was. So a move that takes a short operation
// far away gains little. An operation inside a block of the path goes to an end
// of it or beyond, or to another machine: within the block the path stays as
// long (as in the neighbourhood N7 of Zhang, Li, Guan and Rao, "A tabu search
// algorithm with a new neighborhood structure for the job shop scheduling
// problem", Computers & Operations Research 34, 2007).
//
// A move forbids its undoing, for a number of steps that is a part of the
// path's length: an operation may not go back to the alternative that it left
// (Mastrolilli and Gambardella 2000). After a move along a machine, it may not
// go the other way there, and those that it passed may not follow it.
//
// On machines that are always busy, an operation finds no room elsewhere. Where
// an exchange of two operations between their machines is better than every
// move, and leaves the path no longer than it is, the step makes it.
//
// Paths show only a part of a choice's cost. If machines are busy all the time,
// the load that the choices make bounds the end of the schedule: an operation
// that takes longer on its new machine takes time from all operations there. So
// the value of a move includes the load that it adds beyond the least
// (ExcessLoads() in bounds.h, by the prices of the load bound's dual), times
// the search's thrift. The best thrift differs from problem to problem; it is 0
// where paths decide.
//
// Thread-safety: none; one search a thread.
#ifndef TAKT_SOLVE_TABU_SEARCH_H_
#define TAKT_SOLVE_TABU_SEARCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
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
    uint64_t stall_steps = 0;  // Stops after so many without a shorter one.
    uint64_t step_limit = 0;   // Stops at this step_count(); 0: none.
    // If not given, it is drawn anew from time to time.
    std::optional<double> thrift = std::nullopt;
  };

  // Searches from the schedule in the graph, and stores the best schedule in
  // *best, unless *best is better already (State::IsBetterThan()). Returns
  // whether *best got better.
  bool Run(const Limits& limits, DisjunctiveGraph::State* best);

  // Makes random moves of critical operations, to leave this part of the search
  // space; fewer if the deadline (of NowNs()) has passed.
  void Perturb(uint32_t move_count, int64_t deadline_ns);

  static double DrawThrift(Random& random);

  uint64_t step_count() const { return steps_; }

 private:
  using Way = DisjunctiveGraph::Way;

  void SetThrift(double thrift);
  void DrawTenure();
  // The step until which something about v is tabu after this one, for at least
  // `percent` of the path's length.
  uint64_t UntilAfter(uint32_t v, uint32_t percent);
  // Makes one step. False if no operation can move, or the time was over before
  // the end of the step.
  bool Step(int64_t best_makespan, int64_t deadline_ns);
  template <typename Candidate>
  struct Choice;
  Way WayOf(const DisjunctiveGraph::Move& move) const;
  // Until which step v may not go to the alternative, or that way on its own.
  uint64_t& TabuUntil(uint32_t v, uint32_t alternative, Way way) {
    return way == Way::kElsewhere
               ? tabu_until_[first_alternative_[v] + alternative]
               : tabu_ways_[v][static_cast<size_t>(way)];
  }
  // Makes the best exchange of an operation of the path that is not tabu and
  // whose value is not above the limit. False if there is none.
  bool MakeExchange(int64_t limit);
  // What the alternative costs beyond that of now.
  int64_t CostOf(uint32_t v, uint32_t alternative) const {
    const int64_t* costs = costs_.data() + first_alternative_[v];
    return costs[alternative] - costs[graph_.choice(v)];
  }
  // Carries the move out, and forbids what would undo it.
  void Make(const DisjunctiveGraph::Move& move);
  // Where the time does not count.
  void ForAllMoves(
      uint32_t v, absl::FunctionRef<void(const DisjunctiveGraph::Move&)> visit);
  void ChooseTabu(Choice<DisjunctiveGraph::Move>* choice);

  DisjunctiveGraph& graph_;
  Random random_;
  uint64_t steps_ = 0;
  double thrift_ = 0;
  uint32_t tenure_percent_ = 0;
  // The share of the last steps that left the makespan as it was.
  double level_share_ = 0;
  // By operation and alternative, and times the thrift.
  const std::vector<double> excess_loads_;
  std::vector<int64_t> costs_;
  std::vector<uint32_t> first_alternative_;
  std::vector<uint64_t> tabu_until_;  // By operation and alternative.
  std::vector<std::array<uint64_t, 2>> tabu_ways_;  // By operation and Way.
  // The operations of a critical path, and for each its block, and the length
  // that no move of it undercuts.
  std::vector<uint32_t> path_;
  std::vector<DisjunctiveGraph::Block> blocks_;
  std::vector<int64_t> floors_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_TABU_SEARCH_H_
