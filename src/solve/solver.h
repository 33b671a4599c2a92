// Solves flexible job-shop problems: a list schedule at once, then a population
// of schedules that tabu search improves and mixing renews, until the time is
// over or a lower bound is met. Problems with side constraints, and the
// objective of weighted tardiness, have a search of their own: simulated
// annealing (annealing.h). The solver is an anytime algorithm: it reports each
// better schedule, and never a worse one.
//
// One thread with the same seed and the same number of steps finds the same
// schedules; with a time limit, the limit decides how far along that sequence
// it comes.
#ifndef TAKT_SOLVE_SOLVER_H_
#define TAKT_SOLVE_SOLVER_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "solve/problem.h"

namespace takt::solve {

struct SolverOptions {
  int64_t time_limit_ns = 1'000'000'000;
  uint32_t thread_count = 1;
  uint64_t seed = 1;
  // Steps of all searches of a thread together; 0: no limit.
  uint64_t step_limit = 0;
  Objective objective = Objective::kMakespan;
  // A feasible schedule that the search begins with, unless a list schedule is
  // better. The solution is never worse.
  std::optional<Schedule> start;
  // Called with each better schedule, one call at a time, perhaps on a thread
  // of the solver's. Must not block for long. Returns false to stop.
  std::function<bool(const Schedule& schedule, int64_t elapsed_ns)> on_better;
};

struct Solution {
  Schedule schedule;
  int64_t weighted_tardiness = 0;  // Of the schedule.
  int64_t objective_value = 0;     // What was to be minimized.
  int64_t lower_bound = 0;         // Of that; proved.
  int64_t elapsed_ns = 0;
  int64_t best_found_ns = 0;  // When the schedule was found.
  uint64_t step_count = 0;    // Of all threads.
  // Threads that did not start or had no memory: the others searched without.
  uint32_t lost_thread_count = 0;
  bool optimal() const { return objective_value == lower_bound; }
};

// INVALID_ARGUMENT if `problem` is not valid, or `start` is no schedule of it;
// as CheckSchedule(). Blocks for the time limit at the
// most, plus what a step takes.
absl::StatusOr<Solution> Solve(const Problem& problem,
                               const SolverOptions& options);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_SOLVER_H_
