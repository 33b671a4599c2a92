// A CallerScope makes a thread that is no worker a part of an executor for as
// long as it exists: a caller that waits, or one that runs what is ready.
//
// It belongs to its thread, but for state.shared; scopes nest.
#ifndef TAKT_EXEC_CALLER_SCOPE_H_
#define TAKT_EXEC_CALLER_SCOPE_H_

#include <cstdint>

#include "exec/stealing_executor.h"

namespace takt::exec {

class StealingExecutor::CallerScope {
 public:
  // Code on this thread may run jobs of lanes from `lane_min` on at once
  // (Worker::MayRun()).
  CallerScope(StealingExecutor& executor, uint32_t lane_min);
  ~CallerScope();
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
  LaneWatchScope(StealingExecutor& executor, ThreadState& state);
  ~LaneWatchScope();
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
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CALLER_SCOPE_H_
