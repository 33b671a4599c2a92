#include "solve/constrained_solver.h"

#include <atomic>
#include <limits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "solve/annealing.h"
#include "solve/bounds.h"
#include "solve/constrained_schedule.h"
#include "solve/search_threads.h"

namespace takt::solve {
namespace {

using Value = ConstrainedSchedule::Value;

// Lower bounds take this part of the time: more of it hardly improves them.
constexpr int64_t kBoundShare = 20;

// The best schedule of all threads.
class BestSchedule {
 public:
  BestSchedule(const SolverOptions& options, int64_t start_ns)
      : options_(options), start_ns_(start_ns) {}

  // What is minimized; the least number once the caller has had enough.
  int64_t objective() const {
    return objective_.load(std::memory_order_relaxed);
  }

  void Offer(const Schedule& schedule, const Value& value)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    const int64_t objective = ObjectiveOf(value);
    const int64_t best = this->objective();
    if (objective > best) return;
    if (objective == best && value.makespan >= schedule_.makespan) return;
    schedule_ = schedule;
    value_ = value;
    found_ns_ = NowNs() - start_ns_;
    objective_.store(objective, std::memory_order_relaxed);
    if (options_.on_better && !options_.on_better(schedule_, found_ns_)) {
      objective_.store(std::numeric_limits<int64_t>::min(),
                       std::memory_order_relaxed);
    }
  }

  Schedule schedule() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    return schedule_;
  }

  void MoveTo(Solution* solution) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    solution->schedule = std::move(schedule_);
    solution->weighted_tardiness = value_.tardiness;
    solution->objective_value = ObjectiveOf(value_);
    solution->best_found_ns = found_ns_;
  }

 private:
  int64_t ObjectiveOf(const Value& value) const {
    return options_.objective == Objective::kMakespan ? value.makespan
                                                      : value.tardiness;
  }

  const SolverOptions& options_;
  const int64_t start_ns_;
  std::atomic<int64_t> objective_{std::numeric_limits<int64_t>::max()};
  Mutex mutex_;
  Schedule schedule_ ABSL_GUARDED_BY(mutex_);
  Value value_ ABSL_GUARDED_BY(mutex_);
  int64_t found_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Schedules from which the search may begin.
void OfferFirst(const Problem& problem, const SolverOptions& options,
                BestSchedule& best) {
  ConstrainedSchedule schedule(problem);
  Value value;
  schedule.LoadSerial();
  const bool is_feasible = schedule.Evaluate(&value);
  TAKT_CHECK(is_feasible);
  schedule.Keep();
  best.Offer(schedule.ToSchedule(), value);
  if (!options.start.has_value()) return;
  best.Offer(*options.start, {options.start->makespan,
                              WeightedTardiness(problem, *options.start)});
}

}  // namespace

Solution SolveConstrained(const Problem& problem, const SolverOptions& options,
                          int64_t start_ns) {
  const int64_t deadline_ns = DeadlineAfter(start_ns, options.time_limit_ns);
  BestSchedule best(options, start_ns);
  OfferFirst(problem, options, best);
  const Schedule first = best.schedule();
  const int64_t bound_ns = options.step_limit != 0
                               ? options.time_limit_ns
                               : options.time_limit_ns / kBoundShare;
  const int64_t bound =
      options.objective == Objective::kMakespan
          ? std::max(SetupBound(problem),
                     LowerBound(problem, first.makespan,
                                DeadlineAfter(start_ns, bound_ns)))
          : TardinessBound(problem);
  std::atomic<uint64_t> steps{0};
  const auto search = [&](uint32_t index) {
    if (NowNs() >= deadline_ns) return;
    Annealing annealing(problem, options.objective, first,
                        options.seed + index);
    annealing.Run(
        {.deadline_ns = deadline_ns,
         .step_limit = options.step_limit,
         .enough = bound},
        [&](const Schedule& schedule, const Value& value) {
          best.Offer(schedule, value);
        },
        [&] { return best.objective(); });
    steps.fetch_add(annealing.step_count());
  };
  SearchThreads threads;
  threads.Start(options.thread_count, search);
  search(0);
  Solution solution;
  solution.lost_thread_count = threads.Join();
  solution.lower_bound = bound;
  best.MoveTo(&solution);
  solution.step_count = steps.load();
  solution.elapsed_ns = NowNs() - start_ns;
  return solution;
}

}  // namespace takt::solve
