// Longest paths show the order of two operations only if both take time. In a
// ScaledProblem every operation does: all times are multiplied by a factor so
// large that one new unit for each operation of no duration does not add up to
// one old unit.
#ifndef TAKT_SOLVE_SCALED_PROBLEM_H_
#define TAKT_SOLVE_SCALED_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "solve/problem.h"

namespace takt::solve {

class ScaledProblem {
 public:
  // `original` is valid and outlives the result. INVALID_ARGUMENT if its times
  // are too great to be multiplied.
  static absl::StatusOr<ScaledProblem> Make(const Problem& original);

  // The problem to solve: the original itself if every operation takes time.
  const Problem& problem() const { return factor_ == 1 ? *original_ : scaled_; }
  // A schedule of problem() as one of the original: the same choices in the
  // same order, as early as may be.
  Schedule Restore(const Schedule& schedule) const;
  // A lower bound of problem()'s makespan as one of the original's.
  int64_t RestoreBound(int64_t bound) const;

 private:
  explicit ScaledProblem(const Problem& original) : original_(&original) {}

  const Problem* original_;
  int64_t factor_ = 1;
  Problem scaled_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_SCALED_PROBLEM_H_
