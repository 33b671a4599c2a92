#include "solve/solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"
#include "solve/bounds.h"
#include "solve/constrained_solver.h"
#include "solve/disjunctive_graph.h"
#include "solve/evolution.h"
#include "solve/list_schedule.h"
#include "solve/scaled_problem.h"
#include "solve/search_threads.h"

namespace takt::solve {
namespace {

// Of list schedules: what is wide ends early, but takes more of the machines.
constexpr double kWorkWeights[] = {64, 32, 16, 4};
// Between them, the weight is changed by a factor of at first this, and at last
// that.
constexpr double kFirstFactor = 2;
constexpr double kLastFactor = 1.1;
// Lower bounds take this part of the time: more of it hardly improves them.
constexpr int64_t kBoundShare = 20;

bool HasWideAlternatives(const Problem& problem) {
  for (const Operation& operation : problem.operations) {
    for (const Alternative& alternative : operation.alternatives) {
      if (alternative.machines.size() > 1) return true;
    }
  }
  return false;
}

// The best schedule of all threads.
class Incumbent {
 public:
  Incumbent(const SolverOptions& options, const ScaledProblem& scaled,
            int64_t start_ns)
      : options_(options), scaled_(scaled), start_ns_(start_ns) {}

  // It is in the units of the scaled problem, as those that are offered.
  int64_t makespan() const { return makespan_.load(std::memory_order_relaxed); }

  void Offer(const Schedule& schedule) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (schedule.makespan >= makespan()) return;
    MutexLock lock(&mutex_);
    if (schedule.makespan >= makespan()) return;
    makespan_.store(schedule.makespan, std::memory_order_relaxed);
    found_ns_ = NowNs() - start_ns_;
    schedule_ = scaled_.Restore(schedule);
    if (options_.on_better && !options_.on_better(schedule_, found_ns_)) {
      makespan_.store(0, std::memory_order_relaxed);  // Nothing is better.
    }
  }

  void MoveTo(Solution* solution) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    solution->schedule = std::move(schedule_);
    solution->best_found_ns = found_ns_;
  }

 private:
  const SolverOptions& options_;
  const ScaledProblem& scaled_;
  const int64_t start_ns_;
  std::atomic<int64_t> makespan_{std::numeric_limits<int64_t>::max()};
  Mutex mutex_;
  Schedule schedule_ ABSL_GUARDED_BY(mutex_);
  int64_t found_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The best of some list schedules. Holes take long to look for where there are
// many places to go, so the first do not. The others begin with the best weight
// of those, and go on to better ones near it.
Schedule FirstSchedule(const Problem& problem, int64_t deadline_ns,
                       Random& random, Incumbent& incumbent) {
  Schedule first;
  first.makespan = std::numeric_limits<int64_t>::max();
  // Whether it is the best.
  const auto is_better = [&](const ListScheduleOptions& way) {
    Schedule other = MakeListSchedule(problem, way, random);
    if (other.makespan >= first.makespan) return false;
    first = std::move(other);
    incumbent.Offer(first);
    return true;
  };
  ListScheduleOptions way;
  if (!HasWideAlternatives(problem)) {
    is_better(way);
    return first;
  }
  way.fill_holes = false;
  double best = 0;
  for (const double weight : kWorkWeights) {
    if (best != 0 && NowNs() >= deadline_ns) return first;
    way.work_weight = weight;
    if (is_better(way)) best = weight;
    way.deadline_ns = deadline_ns;  // There is one.
  }
  way.fill_holes = true;
  std::vector<double> tried;
  const auto is_better_with = [&](double weight) {
    for (const double other : tried) {
      if (std::abs(weight / other - 1) < kLastFactor - 1) return false;
    }
    if (NowNs() >= deadline_ns) return false;
    tried.push_back(weight);
    way.work_weight = weight;
    return is_better(way);
  };
  const auto climb = [&](double weight) {
    if (!is_better_with(weight)) return;
    for (double factor = kFirstFactor; factor > kLastFactor;) {
      if (is_better_with(weight / factor)) {
        weight /= factor;
      } else if (is_better_with(weight * factor)) {
        weight *= factor;
      } else {
        factor = std::sqrt(factor);
      }
    }
  };
  climb(best);
  for (const double weight : kWorkWeights) climb(weight);
  return first;
}

// `start`, which is feasible, with times of `problem`, which may be scaled: the
// same choices in the same order, as early as may be.
Schedule ScheduleLike(const Problem& problem, const Schedule& start) {
  DisjunctiveGraph graph(problem);
  graph.LoadSchedule(start);
  return graph.ToSchedule();
}

}  // namespace

absl::StatusOr<Solution> Solve(const Problem& problem,
                               const SolverOptions& options) {
  const int64_t start_ns = NowNs();
  TAKT_RETURN_IF_ERROR(problem.Validate());
  if (options.start.has_value()) {
    TAKT_RETURN_IF_ERROR(
        Annotate(CheckSchedule(problem, *options.start), "start"));
  }
  if (problem.HasSideConstraints() ||
      options.objective != Objective::kMakespan) {
    return SolveConstrained(problem, options, start_ns);
  }
  TAKT_ASSIGN_OR_RETURN(const ScaledProblem scaled,
                        ScaledProblem::Make(problem));
  const int64_t deadline_ns = DeadlineAfter(start_ns, options.time_limit_ns);
  Incumbent incumbent(options, scaled, start_ns);
  Random random(options.seed);
  Schedule first =
      FirstSchedule(scaled.problem(), deadline_ns, random, incumbent);
  if (options.start.has_value()) {
    Schedule start = ScheduleLike(scaled.problem(), *options.start);
    incumbent.Offer(start);
    if (start.makespan <= first.makespan) first = std::move(start);
  }
  // Steps that are counted are the same ones however long a bound takes.
  const int64_t bound_ns = options.step_limit != 0
                               ? options.time_limit_ns
                               : options.time_limit_ns / kBoundShare;
  std::vector<double> prices;
  const int64_t bound = LowerBound(scaled.problem(), first.makespan,
                                   DeadlineAfter(start_ns, bound_ns), &prices);
  const std::vector<double> excess = ExcessLoads(scaled.problem(), prices);
  std::atomic<uint64_t> steps{0};
  const auto search = [&](uint32_t index) {
    if (NowNs() >= deadline_ns) return;
    Evolution evolution(scaled.problem(), first, excess, options.seed + index);
    evolution.Run(
        {.deadline_ns = deadline_ns,
         .step_limit = options.step_limit,
         .enough = bound},
        [&](const Schedule& schedule) { incumbent.Offer(schedule); },
        [&] { return incumbent.makespan(); });
    steps.fetch_add(evolution.step_count());
  };
  SearchThreads threads;
  threads.Start(options.thread_count, search);
  search(0);
  Solution solution;
  solution.lost_thread_count = threads.Join();
  solution.lower_bound = scaled.RestoreBound(bound);
  incumbent.MoveTo(&solution);
  solution.objective_value = solution.schedule.makespan;
  solution.weighted_tardiness = WeightedTardiness(problem, solution.schedule);
  solution.step_count = steps.load();
  solution.elapsed_ns = NowNs() - start_ns;
  return solution;
}

}  // namespace takt::solve
