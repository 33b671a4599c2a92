// An Evolution keeps a few good schedules, each the result of a tabu search. It
// mixes two of them into a new one, from which a search begins in its turn, and
// whose result replaces the worst (path relinking in the manner of Ding, Lu,
// Li, Shen, Xu and Glover, "A two-individual based evolutionary algorithm for
// the flexible job shop scheduling problem", AAAI 2019, with more individuals
// and another way of mixing, which needs no repair). When a population gets no
// better, another begins elsewhere.
//
// Thread-safety: none; one a thread.
#ifndef TAKT_SOLVE_EVOLUTION_H_
#define TAKT_SOLVE_EVOLUTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "solve/disjunctive_graph.h"
#include "solve/problem.h"
#include "solve/tabu_search.h"

namespace takt::solve {

class Evolution {
 public:
  // `start` is a feasible schedule of `problem`, which outlives this;
  // `excess_loads` is ExcessLoads() of it.
  Evolution(const Problem& problem, const Schedule& start,
            std::vector<double> excess_loads, uint64_t seed);

  struct Limits {
    int64_t deadline_ns = 0;  // Of NowNs().
    uint64_t step_limit = 0;  // Of all searches together; 0: none.
    int64_t enough = 0;       // Stops at a makespan as good as this.
  };

  // Calls `on_better` with each schedule that is better than all before it,
  // and stops when best_of_all() is good enough, too.
  void Run(const Limits& limits,
           const std::function<void(const Schedule&)>& on_better,
           const std::function<int64_t()>& best_of_all);

  uint64_t step_count() const { return search_.step_count(); }

 private:
  struct Individual {
    DisjunctiveGraph::State state;
    // Twice the middle between the earliest and the latest time at which each
    // operation can run. Rises along every precedence.
    std::vector<int64_t> middle;
    double thrift = 0;  // Of the search; children inherit it.
  };

  bool IsOver() const;
  // Makes the first schedule of a population, by a long search.
  Individual Settle();
  // Makes another schedule near the best of the population.
  Individual Neighbour();
  Individual Child();
  // Runs a tabu search from the schedule in the graph.
  Individual Search(uint64_t steps_of_operation, std::optional<double> thrift);
  void Add(Individual individual);
  // The choices of one or the other parent, in the order of a weighted mean of
  // when they run.
  DisjunctiveGraph::State Mix(const Individual& a, const Individual& b);
  bool IsKnown(const Individual& individual) const;

  DisjunctiveGraph graph_;
  TabuSearch search_;
  Random random_;
  std::vector<uint32_t> by_precedence_;  // A topological order.
  std::vector<Individual> population_;
  uint32_t fruitless_ = 0;  // Searches since one that the population took.
  bool is_first_population_ = true;
  DisjunctiveGraph::State start_;
  DisjunctiveGraph::State best_;                // Of all populations.
  DisjunctiveGraph::State best_of_population_;  // As long as it has been there.

  Limits limits_;
  const std::function<void(const Schedule&)>* on_better_ = nullptr;
  const std::function<int64_t()>* best_of_all_ = nullptr;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_EVOLUTION_H_
