// Solves problems with side constraints, or for weighted tardiness.
#ifndef TAKT_SOLVE_CONSTRAINED_SOLVER_H_
#define TAKT_SOLVE_CONSTRAINED_SOLVER_H_

#include <cstdint>

#include "solve/problem.h"
#include "solve/solver.h"

namespace takt::solve {

// As Solve(), which began at `start_ns` of NowNs(). `problem` is valid, and so
// is the start of `options`.
Solution SolveConstrained(const Problem& problem, const SolverOptions& options,
                          int64_t start_ns);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_CONSTRAINED_SOLVER_H_
