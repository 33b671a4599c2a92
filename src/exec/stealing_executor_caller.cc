// Callers that run jobs of the work-stealing executor: while they wait, when
// they ask for it, and after Shutdown().
#include <new>

#include "base/check.h"
#include "base/clock.h"
#include "exec/caller_scope.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// Makes a thread an ordinary one again at the end of a call if it was ordinary
// at the begin: a worker that waits within a job returns to that job.
class OrdinaryScope {
 public:
  explicit OrdinaryScope(ThreadState& state)
      : real_time_(state.is_ordinary() ? state.real_time : nullptr) {}
  ~OrdinaryScope() {
    if (real_time_ != nullptr) real_time_->SetOrdinary(true);
  }
  OrdinaryScope(const OrdinaryScope&) = delete;
  OrdinaryScope& operator=(const OrdinaryScope&) = delete;

 private:
  RealTimeThread* const real_time_;
};

}  // namespace

bool StealingExecutor::RunHelpingCaller(HelpingCaller::Impl& caller,
                                        int64_t deadline_ns) {
  ThreadState& state = caller.scope.state;
  TAKT_DCHECK(!state.is_working);
  if (state.is_notified()) {
    TakeNotification(state);
    return true;
  }
  caller.has_worked = true;
  state.is_working = true;
  const OrdinaryScope ordinary(state);
  const LaneWatchScope watch(*this, state);
  state.lane_min = worker_count() > 0 ? caller.lane : 0;
  state.leave_ns = deadline_ns;
  state.may_move = worker_count() > 0;
  if (RunKept(state) && state.is_notified()) {
    state.is_working = false;
    cpu_load_.Leave(&state.seen_on);
    SpillNext(state);
    TakeNotification(state);
    return true;
  }
  active_.fetch_add(1, std::memory_order_seq_cst);
  bool notified = false;
  while (true) {
    notified = state.is_notified();
    if (notified || HasPassed(deadline_ns)) break;
    if (MustYield(state)) {
      YieldCore(state, deadline_ns);
      continue;
    }
    if (MustMove(state) && Move(state, deadline_ns)) continue;
    FoundJob found = Find(state, /*clear=*/false);
    if (found.job != nullptr || Search(state, &found)) {
      if (found.job != nullptr) RunJob(state, found);
      continue;
    }
    Park(state, /*is_surplus=*/false, deadline_ns);
  }
  SpillNext(state);
  state.is_working = false;
  cpu_load_.Leave(&state.seen_on);
  const uint32_t active = active_.fetch_sub(1, std::memory_order_seq_cst);
  if (cores_ != nullptr && active == 1) cores_->BecomeIdle();
  // This thread leaves, so other threads must run the jobs that are left. A
  // surplus worker may become active again for them.
  if (idle_.HasIdle() && HasWork(state, LaneMask::All())) {
    const uint32_t others = concurrency_ > 1 ? 1 : 0;
    Wake(kWakeBranches, kLaneCount - 1, nullptr, &state, others);
  }
  if (notified) TakeNotification(state);
  return notified;
}

void StealingExecutor::TakeNotification(ThreadState& state) {
  TAKT_DCHECK(state.is_notified());
  state.shared.sleeper.Take(SharedState::kNotified);
  state.shared.own_hints.RemoveAll(LaneMask::LeaveRequest(),
                                   std::memory_order_relaxed);
}

void StealingExecutor::RunHere() {
  CallerScope scope(*this, /*lane_min=*/0);
  RunAvailable(scope.state, kInfiniteFuture);
  AddCallerCounts(scope.counters);
}

uint32_t StealingExecutor::RunReady(int64_t deadline_ns) {
  CallerScope scope(*this, /*lane_min=*/0);
  ThreadState& state = scope.state;
  state.shared.is_helping_caller = true;  // It leaves between two ranges.
  state.leave_ns = deadline_ns;
  if (ThreadState* const outer = state.outer) {
    // All threads may run what a call on this thread has kept to itself.
    outer->executor->SpillNext(*outer);
    state.real_time = outer->real_time;
  }
  const OrdinaryScope ordinary(state);
  const uint32_t count = RunAvailable(state, deadline_ns);
  AddCallerCounts(scope.counters);
  // After Shutdown() no thread comes for what is left.
  if (stopping_.load(std::memory_order_seq_cst)) RunHere();
  return count;
}

uint32_t StealingExecutor::RunAvailable(ThreadState& state,
                                        int64_t deadline_ns) {
  TAKT_DCHECK(!state.is_working);
  const LaneWatchScope watch(*this, state);
  state.is_working = true;
  active_.fetch_add(1, std::memory_order_seq_cst);
  uint32_t count = 0;
  do {
    FoundJob found = Find(state, /*clear=*/false);
    // No other thread may come after this one, so it does not rely on hints.
    if (found.job == nullptr) found = Steal(state, LaneMask::All());
    if (found.job == nullptr) break;
    RunJob(state, found);
    ++count;
  } while (!HasPassed(deadline_ns));
  SpillNext(state);
  cpu_load_.Leave(&state.seen_on);
  active_.fetch_sub(1, std::memory_order_seq_cst);
  state.is_working = false;
  return count;
}

Executor::HelpingCaller::HelpingCaller(Executor& executor, uint8_t lane) {
  static_assert(sizeof(Impl) <= sizeof(storage_));
  TAKT_DCHECK(lane < kLaneCount);
  auto* stealing = static_cast<StealingExecutor*>(&executor);
  ThreadState* const outer = StealingExecutor::innermost_;
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
  if (stealing->cores_ != nullptr && outer == nullptr) {
    state.core_lane = lane;
    stealing->ClaimCore(state);
  }
}

Executor::HelpingCaller::~HelpingCaller() {
  StealingExecutor* const executor = impl()->scope.state.executor;
  executor->SpillNext(impl()->scope.state);
  if (impl()->has_worked) executor->AddCallerCounts(impl()->scope.counters);
  if (impl()->scope.state.core_lane > 0) {
    executor->DropCore(impl()->scope.state);
    if (executor->active_.load(std::memory_order_relaxed) == 0) {
      executor->cores_->BecomeIdle();
    }
  }
  const bool is_late = impl()->is_late;
  impl()->~Impl();
  if (is_late && executor->worker_count() == 0) {
    // The thread has no time for all the jobs that it leaves; the next one that
    // waits runs them. One that never has time runs a part each time.
    (void)executor->RunReady(NowNs());
  } else {
    executor->Flush();
  }
}

bool Executor::HelpingCaller::WaitUntilNotified(int64_t deadline_ns) {
  const bool notified =
      impl()->scope.state.executor->RunHelpingCaller(*impl(), deadline_ns);
  impl()->is_late = !notified;
  return notified;
}

void Executor::HelpingCaller::Notify() {
  // The system may let the caller have this thread's processor at once. Other
  // threads could not run meanwhile what only this one sees.
  ThreadState* const here = StealingExecutor::innermost_;
  if (here != nullptr && here->is_working) here->executor->SpillNext(*here);
  SharedState& shared = impl()->scope.state.shared;
  // First: the caller may be gone once it has been notified.
  shared.own_hints.AddAll(LaneMask::LeaveRequest(), std::memory_order_relaxed);
  shared.sleeper.Raise(SharedState::kNotified);
}

}  // namespace takt::exec
