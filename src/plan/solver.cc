#include "plan/solver.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "plan/bounds.h"
#include "plan/disjunctive_graph.h"
#include "plan/list_schedule.h"
#include "plan/stretched_problem.h"
#include "plan/tabu_search.h"

namespace takt::plan {
namespace {

// The best schedule of all threads.
class Incumbent {
 public:
  Incumbent(const SolverOptions& options, const StretchedProblem& stretched,
            int64_t start_ns)
      : options_(options), stretched_(stretched), start_ns_(start_ns) {}

  // Of the stretched problem, like what is offered.
  int64_t makespan() const { return makespan_.load(std::memory_order_relaxed); }

  void Offer(const Schedule& schedule) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (schedule.makespan >= makespan()) return;
    absl::MutexLock lock(&mutex_);
    if (schedule.makespan >= makespan()) return;
    makespan_.store(schedule.makespan, std::memory_order_relaxed);
    found_ns_ = NowNs() - start_ns_;
    schedule_ = stretched_.Restore(schedule);
    if (options_.on_better) options_.on_better(schedule_, found_ns_);
  }

  void MoveTo(Solution* solution) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    solution->schedule = std::move(schedule_);
    solution->best_found_ns = found_ns_;
  }

 private:
  const SolverOptions& options_;
  const StretchedProblem& stretched_;
  const int64_t start_ns_;
  std::atomic<int64_t> makespan_{std::numeric_limits<int64_t>::max()};
  absl::Mutex mutex_;
  Schedule schedule_ ABSL_GUARDED_BY(mutex_);
  int64_t found_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Searches with restarts: from a few good schedules, changed a little or more
// the longer nothing better turns up.
class Searcher {
 public:
  Searcher(const Problem& problem, const Schedule& start, int64_t enough,
           uint64_t seed, Incumbent& incumbent)
      : graph_(problem),
        search_(graph_, seed),
        random_(seed ^ 0x5bd1e995),
        enough_(enough),
        incumbent_(incumbent) {
    graph_.LoadSchedule(start);
    graph_.Save(&best_);
  }

  void Run(int64_t deadline_ns, uint64_t step_limit) {
    const uint64_t stall = 500 + 4 * uint64_t{graph_.operation_count()};
    uint32_t fruitless = 0;
    DisjunctiveGraph::State current = best_;
    while (NowNs() < deadline_ns && incumbent_.makespan() > enough_ &&
           (step_limit == 0 || search_.step_count() < step_limit)) {
      DisjunctiveGraph::State found = current;
      found.makespan = std::numeric_limits<int64_t>::max();
      uint64_t steps = stall;
      if (step_limit > 0) {
        steps = std::min(steps, step_limit - search_.step_count());
      }
      search_.Run({deadline_ns, enough_, steps}, &found);
      if (found.makespan < best_.makespan) {
        best_ = found;
        fruitless = 0;
        graph_.Load(best_);
        incumbent_.Offer(graph_.ToSchedule());
      } else {
        ++fruitless;
      }
      // Accept what is a little worse, so that restarts wander.
      if (found.makespan <= current.makespan || fruitless % 5 != 0) {
        current = found;
      }
      if (fruitless % 10 == 9) current = best_;
      Restart(current, fruitless);
    }
  }

  uint64_t step_count() const { return search_.step_count(); }

 private:
  void Restart(const DisjunctiveGraph::State& from, uint32_t fruitless) {
    graph_.Load(from);
    const uint32_t strength = 3 + fruitless % 12;
    search_.Perturb(strength + random_.Below(strength));
  }

  DisjunctiveGraph graph_;
  TabuSearch search_;
  Random random_;
  const int64_t enough_;
  Incumbent& incumbent_;
  DisjunctiveGraph::State best_;
};

}  // namespace

absl::StatusOr<Solution> Solve(const Problem& problem,
                               const SolverOptions& options) {
  const int64_t start_ns = NowNs();
  TAKT_RETURN_IF_ERROR(problem.Validate());
  TAKT_ASSIGN_OR_RETURN(const StretchedProblem stretched,
                        StretchedProblem::Make(problem));
  const int64_t deadline_ns = DeadlineAfter(start_ns, options.time_limit_ns);
  Incumbent incumbent(options, stretched, start_ns);
  Random random(options.seed);
  const Schedule first = MakeListSchedule(stretched.problem(), {}, random);
  incumbent.Offer(first);
  const int64_t bound = LowerBound(stretched.problem(), first.makespan);
  std::atomic<uint64_t> steps{0};
  const auto search = [&](uint32_t index) {
    Searcher searcher(stretched.problem(), first, bound, options.seed + index,
                      incumbent);
    searcher.Run(deadline_ns, options.step_limit);
    steps.fetch_add(searcher.step_count());
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < options.thread_count; ++i) {
    threads.emplace_back(search, i);
  }
  search(0);
  for (std::thread& thread : threads) thread.join();
  Solution solution;
  solution.lower_bound = stretched.RestoreBound(bound);
  incumbent.MoveTo(&solution);
  solution.step_count = steps.load();
  solution.elapsed_ns = NowNs() - start_ns;
  return solution;
}

}  // namespace takt::plan
