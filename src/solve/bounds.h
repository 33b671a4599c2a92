// Lower bounds of a problem's makespan, each proved.
#ifndef TAKT_SOLVE_BOUNDS_H_
#define TAKT_SOLVE_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "solve/problem.h"

namespace takt::solve {

// Longest path of the precedences with every operation at its shortest.
int64_t CriticalPathBound(const Problem& problem);

// The load that must be spread over the machines, were operations divisible:
// for any machine weights that add up to 1, the sum over the operations of
// their cheapest weighted machine time, and over the machines of the weighted
// time before an operation can start there and after the last one. That is
// concave in the weights, which are improved by mirror descent with steps of
// Polyak's length to a level a little above the best so far (B. Polyak,
// "Minimization of unsmooth functionals", 1969; A. Beck and M. Teboulle,
// "Mirror descent and nonlinear projected subgradient methods for convex
// optimization", 2003), and any round's value holds. Stops when it reaches
// `enough`, or after the first round that ends at or after `deadline_ns` (of
// NowNs()). The best weights are stored in *prices, unless it is null: the
// value of time on each machine.
int64_t MachineLoadBound(const Problem& problem, int64_t enough,
                         int64_t deadline_ns = kInfiniteFuture,
                         std::vector<double>* prices = nullptr);

// By operation and alternative, one after the other: the cost above the
// cheapest alternative at these prices, in time of the dearest machine. Apart
// from rounding, no schedule ends before the bound plus the excess of all its
// choices, times the greatest price. All 0 without prices.
std::vector<double> ExcessLoads(const Problem& problem,
                                const std::vector<double>& prices);

// The bound of the operations that can run on one machine only, with free
// preemption (Jackson's rule; Carlier 1982); the greatest over all machines.
int64_t OneMachineBound(const Problem& problem);

// The greatest of these bounds. `enough`: a makespan that is known to be
// reached. *prices stays empty if a bound reaches it without prices.
int64_t LowerBound(const Problem& problem, int64_t enough,
                   int64_t deadline_ns = kInfiniteFuture,
                   std::vector<double>* prices = nullptr);

// Of each machine with setup times, the operations that can run there only: the
// earliest start, all durations, the least tail, and what it takes to enter
// each of their families once, whichever is the first.
int64_t SetupBound(const Problem& problem);

// Of the weighted tardiness: each operation is late by what its path takes, and
// for each machine one of the operations that follow is late by what the
// preemptive one-machine problem says.
int64_t TardinessBound(const Problem& problem);

// By operation: the earliest start, and the least that must follow its end,
// with every operation at its shortest.
struct StaticPaths {
  std::vector<int64_t> heads;
  std::vector<int64_t> tails;
  std::vector<int64_t> shortest;
  std::vector<uint32_t> order;  // Topological.
};
StaticPaths ComputeStaticPaths(const Problem& problem);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_BOUNDS_H_
