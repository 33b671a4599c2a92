#include "exec/caller_scope.h"

#include <new>
#include <utility>

#include "base/check.h"

namespace takt::exec {

StealingExecutor::CallerScope::CallerScope(StealingExecutor& executor,
                                           uint32_t lane_min) {
  ThreadState*& innermost = ThisThread();
  state.executor = &executor;
  state.outer = innermost;
  state.worker = &ThisThreadsScratch();
  state.counters = &counters;
  outer_index_ = std::exchange(state.worker->index, executor.worker_count());
  outer_lane_min_ = std::exchange(state.worker->lane_min_, lane_min);
  innermost = &state;
}

StealingExecutor::CallerScope::~CallerScope() {
  TAKT_CHECK(ThisThread() == &state);
  TAKT_CHECK(state.next == nullptr && !state.is_working);
  state.worker->lane_min_ = outer_lane_min_;
  state.worker->index = outer_index_;
  ThisThread() = state.outer;
}

StealingExecutor::LaneWatchScope::LaneWatchScope(StealingExecutor& executor,
                                                 ThreadState& state)
    : worker_(*state.worker),
      outer_shared_(
          std::exchange(worker_.shared_hints_, &executor.shared_hints_)),
      outer_own_(std::exchange(worker_.own_hints_, &state.shared.own_hints)),
      // Until a job runs, nothing is interrupted.
      outer_stops_for_(std::exchange(worker_.stops_for_, LaneMask())) {}

StealingExecutor::LaneWatchScope::~LaneWatchScope() {
  worker_.shared_hints_ = outer_shared_;
  worker_.own_hints_ = outer_own_;
  worker_.stops_for_ = outer_stops_for_;
}

Executor::HelpingCaller::HelpingCaller(Executor& executor, uint8_t lane) {
  static_assert(sizeof(Impl) <= sizeof(storage_));
  TAKT_DCHECK(lane < kLaneCount);
  auto* stealing = static_cast<StealingExecutor*>(&executor);
  ThreadState* const outer = StealingExecutor::ThisThread();
  // The next job of this thread must not wait for this wait to end, nor must
  // the jobs that were left to it as a helping caller of another executor.
  if (ThreadState* const here = stealing->StateHere()) {
    stealing->SpillNext(*here);
  }
  if (outer != nullptr && outer->executor != stealing) {
    outer->executor->Flush();
  }
  new (storage_) Impl{.scope = StealingExecutor::CallerScope(
                          *stealing, stealing->worker_count() > 0 ? lane : 0u),
                      .lane = lane};
  ThreadState& state = impl()->scope.state;
  state.shared.is_helping_caller = true;
  state.shared.goes_to_back = true;
  if (outer != nullptr) state.real_time = outer->real_time;
}

Executor::HelpingCaller::~HelpingCaller() {
  StealingExecutor* const executor = impl()->scope.state.executor;
  executor->SpillNext(impl()->scope.state);
  if (impl()->has_worked) executor->AddCallerCounts(impl()->scope.counters);
  impl()->~Impl();
  executor->Flush();
}

bool Executor::HelpingCaller::WaitUntilNotified(int64_t deadline_ns) {
  return impl()->scope.state.executor->RunHelpingCaller(*impl(), deadline_ns);
}

void Executor::HelpingCaller::Notify() {
  SharedState& shared = impl()->scope.state.shared;
  // First: the caller may be gone once it has been notified.
  shared.own_hints.AddAll(LaneMask::LeaveRequest(), std::memory_order_relaxed);
  shared.sleeper.Raise(SharedState::kNotified);
}

}  // namespace takt::exec
