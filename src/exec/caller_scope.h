// Scopes of a caller's thread that runs jobs. They belong to their thread, and
// nest; their functions are here because every synchronous call runs them.
#ifndef TAKT_EXEC_CALLER_SCOPE_H_
#define TAKT_EXEC_CALLER_SCOPE_H_

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "exec/stealing_executor.h"

namespace takt::exec {

// Makes a thread that is not a worker a part of an executor: a caller that
// waits, or one that runs ready jobs. Other threads use state.shared only.
class StealingExecutor::CallerScope {
 public:
  // Code on this thread may run jobs of lanes from `lane_min` on at once
  // (Worker::MayRun()).
  CallerScope(StealingExecutor& executor, uint32_t lane_min) {
    state.executor = &executor;
    state.outer = std::exchange(innermost_, &state);
    state.worker = &ThisThreadsScratch();
    state.counters = &counters;
    outer_index_ = std::exchange(state.worker->index, executor.worker_count());
    outer_lane_min_ = std::exchange(state.worker->lane_min_, lane_min);
  }
  ~CallerScope() {
    TAKT_CHECK(innermost_ == &state);
    TAKT_CHECK(state.next == nullptr && !state.is_working);
    state.worker->lane_min_ = outer_lane_min_;
    state.worker->index = outer_index_;
    innermost_ = state.outer;
  }
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

  ThreadState state;
  ThreadCounters counters;

 private:
  uint32_t outer_index_;
  uint32_t outer_lane_min_;
};

// Makes a thread's Worker look at an executor's hints, so that running jobs
// stop for what waits there.
class StealingExecutor::LaneWatchScope {
 public:
  LaneWatchScope(StealingExecutor& executor, ThreadState& state)
      : worker_(*state.worker),
        outer_shared_(
            std::exchange(worker_.shared_hints_, &executor.shared_hints_)),
        outer_own_(std::exchange(worker_.own_hints_, &state.shared.own_hints)),
        // Until a job runs, nothing is interrupted.
        outer_stops_for_(std::exchange(worker_.stops_for_, LaneMask())) {}
  ~LaneWatchScope() {
    worker_.shared_hints_ = outer_shared_;
    worker_.own_hints_ = outer_own_;
    worker_.stops_for_ = outer_stops_for_;
  }
  LaneWatchScope(const LaneWatchScope&) = delete;
  LaneWatchScope& operator=(const LaneWatchScope&) = delete;

 private:
  Worker& worker_;
  const AtomicLaneMask* const outer_shared_;
  const AtomicLaneMask* const outer_own_;
  const LaneMask outer_stops_for_;
};

struct Executor::HelpingCaller::Impl {
  StealingExecutor::CallerScope scope;
  uint32_t lane = 0;
  bool has_worked = false;
  bool is_late = false;  // The last wait ended at its deadline.
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CALLER_SCOPE_H_
