// How workers of the work-stealing executor look for jobs, and when threads
// sleep.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/pause.h"
#include "exec/stealing_executor.h"

namespace takt::exec {

void StealingExecutor::RecordHere(EventKind kind, int64_t value) {
  if (!tracer().is_on()) return;
  Event event;
  event.time_ns = NowNs();
  event.kind = kind;
  event.value = value;
  tracer().Record(event);
}

void StealingExecutor::RunWorkerThread(void* argument) {
  auto* slot = static_cast<WorkerSlot*>(argument);
  StealingExecutor* executor = slot->state.executor;
  innermost_ = &slot->state;
  Tracer::NameThisThread(TrackKind::kWorker, slot->trace_name);
  if (slot->thread.fifo_priority() > 0 && executor->watches_jobs_) {
    slot->real_time.Init(slot->thread);
    slot->state.real_time = &slot->real_time;
  }
  slot->state.may_move = true;
  executor->RunWorker(slot->state);
  innermost_ = nullptr;
  // Set by Shutdown() from within a job of this thread only.
  if (slot->holds_executor) executor->Release();
}

void StealingExecutor::RunWorker(ThreadState& state) {
  while (true) {
    if (MustYield(state)) {
      TrimIfAsked(*state.slot());
      YieldCore(state, kInfiniteFuture);
      continue;
    }
    if (MustMove(state) && Move(state, kInfiniteFuture)) continue;
    const bool is_surplus = IsSurplus(state);
    if (is_surplus) {
      SpillNext(state);
    } else {
      if (__builtin_expect(state.is_ordinary(), 0)) {
        BecomeRealTimeIfNeeded(state);
      }
      // The jobs that its own hints stand for may be done. Once they are
      // cleared, the worker may be surplus again.
      const bool clear =
          !state.shared.own_hints.Read(std::memory_order_relaxed).empty();
      FoundJob found = Find(state, clear);
      if (found.job != nullptr || Search(state, &found)) {
        if (found.job != nullptr) {
          RunJob(state, found);
          RunChain(state);
        }
        continue;
      }
      if (stopping_.load(std::memory_order_seq_cst)) break;
    }
    TrimIfAsked(*state.slot());
    Park(state, is_surplus, kInfiniteFuture);
  }
  TAKT_DCHECK(state.next == nullptr);
  cpu_load_.Leave(&state.seen_on);
  active_.fetch_sub(1, std::memory_order_seq_cst);
}

bool StealingExecutor::IsSurplus(ThreadState& state) {
  if (state.slot() == nullptr ||
      active_.load(std::memory_order_seq_cst) <= concurrency_ ||
      stopping_.load(std::memory_order_relaxed) ||
      !state.shared.own_hints.Read(std::memory_order_relaxed).empty()) {
    return false;
  }
  return !fills_cpus_ || SharesCpu(state);
}

bool StealingExecutor::SharesCpu(ThreadState& state) {
  if (!fills_cpus_) return false;
  const int32_t here = sched_getcpu();
  cpu_load_.Enter(here, &state.seen_on);
  return cpu_load_.CountOn(here) > 1;
}

bool StealingExecutor::IsCrowded(ThreadState& state) {
  if (!state.may_move || state.interrupted != nullptr ||
      !state.shared.own_hints.Read(std::memory_order_relaxed).empty()) {
    return false;
  }
  const bool is_searched = searching_.load(std::memory_order_relaxed) > 0;
  const bool has_free_cpu = active_.load(std::memory_order_relaxed) <
                            cpu_count_ + cpu_load_.crowding();
  return (is_searched || (has_free_cpu && idle_.HasIdle())) && SharesCpu(state);
}

bool StealingExecutor::Move(ThreadState& state, int64_t deadline_ns) {
  if (state.next == nullptr || state.next->allowed != nullptr) return false;
  const uint32_t lane = state.next->lane_now();
  SpillNext(state);
  BecomeRealTime(state);
  const uint32_t active = active_.fetch_sub(1, std::memory_order_seq_cst);
  TAKT_CHECK(active > 0);
  Announce(state);
  // A thread that searches from here on finds the job, or looks for work once
  // more before it sleeps. This thread may be the one that is woken.
  if (searching_.load(std::memory_order_seq_cst) == 0 &&
      HasWork(state, LaneMask::All())) {
    WakeOne(lane, nullptr, &state);
  }
  // Nor does it leave a job that only some threads may run.
  if (!stopping_.load(std::memory_order_seq_cst) &&
      state.shared.sleeper.raised() == 0 &&
      state.shared.own_hints.Read(std::memory_order_seq_cst).empty()) {
    Sleep(state, deadline_ns);
  }
  Return(state);
  return true;
}

bool StealingExecutor::Search(ThreadState& state, FoundJob* found) {
  BecomeRealTime(state);
  if (linger_ns_ <= 0) return false;
  // Other threads cannot rely on one that leaves some lanes to them.
  const bool is_counted = state.lane_min == 0;
  if (is_counted) searching_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t lane_min = std::min(state.lane_min, kLaneCount - 1);
  searchers_.Add(lane_min);
  const bool may_be = SpinForWork(state, found);
  searchers_.Remove(lane_min);
  if (is_counted) {
    const uint32_t searching =
        searching_.fetch_sub(1, std::memory_order_seq_cst);
    TAKT_CHECK(searching > 0);
    // This was the last thread that searched, and others relied on it.
    if (searching == 1 && found->job != nullptr && idle_.HasIdle() &&
        HasWork(state, LaneMask::All())) {
      Wake(1, kLaneCount - 1, nullptr, &state, 0);
    }
  }
  return may_be;
}

bool StealingExecutor::SpinForWork(ThreadState& state, FoundJob* found) {
  Sleeper& sleeper = state.shared.sleeper;
  int64_t start_ns = -1;
  while (true) {
    *found = Find(state, /*clear=*/false);
    const uint32_t raised = sleeper.raised();
    // A thread that took this one from the list of idle ones may raise the flag
    // only now. The caller looks once more, and that answers it.
    if ((raised & SharedState::kWork) != 0) sleeper.Take(SharedState::kWork);
    if (found->job != nullptr || raised != 0) return true;
    if (stopping_.load(std::memory_order_relaxed)) return false;
    // The caller sees to that.
    if (IsSurplus(state) || MustYield(state)) return true;
    // It would keep its processor from a thread that works, and others would
    // rely on it. When it is woken, the kernel finds it another one.
    if (SharesCpu(state)) return false;
    const int64_t budget_ns = SpinBudgetNs(state);
    if (budget_ns <= 0) return false;
    const int64_t now_ns = NowNs();
    // A caller's thread fires no timers, because it must return to its call.
    if (state.slot() != nullptr && timers_ != nullptr &&
        timers_->FireAnywhere(now_ns)) {
      continue;  // It may have left something to this thread.
    }
    if (start_ns < 0) start_ns = now_ns;
    if (now_ns - start_ns >= budget_ns) return false;
    // A thread that spins for a long time offers its processor to other
    // threads: one of them may be about to make a job ready.
    if (now_ns - start_ns >= patience_ns_) sched_yield();
    // Find() takes longer than a look at what has changed.
    for (int i = 0; i < 8; ++i) {
      if (MailLanes(state).HasAtLeast(state.lane_min) ||
          sleeper.raised() != 0) {
        break;
      }
      Pause();
    }
  }
}

int64_t StealingExecutor::SpinBudgetNs(const ThreadState& state) const {
  const bool is_busy = series_.load(std::memory_order_relaxed) > 0 ||
                       active_.load(std::memory_order_relaxed) >
                           searching_.load(std::memory_order_relaxed);
  const int64_t budget_ns = is_busy ? linger_ns_ : spin_ns_;
  return state.is_helping_caller() ? std::min(budget_ns, caller_spin_max_ns_)
                                   : budget_ns;
}

void StealingExecutor::Announce(ThreadState& state) {
  SharedState& shared = state.shared;
  shared.last_cpu = sched_getcpu();
  cpu_load_.Leave(&state.seen_on);
  shared.idle_lane_min = state.lane_min;
  idle_.Announce(shared);
}

void StealingExecutor::Sleep(ThreadState& state, int64_t deadline_ns) {
  DropCore(state);
  state.counters->parks.Add(1);
  RecordHere(EventKind::kWorkerPark, 0);
  state.shared.sleeper.Sleep(deadline_ns);
  RecordHere(EventKind::kWorkerWake, 0);
  ClaimCore(state);
}

void StealingExecutor::Return(ThreadState& state) {
  // No thread has counted it if it was notified, or is late, or stays.
  if (idle_.Withdraw(state.shared)) {
    active_.fetch_add(1, std::memory_order_seq_cst);
  } else if (state.shared.may_be_late) {
    EndStart(state);
  }
  state.shared.sleeper.Take(SharedState::kWork);
}

void StealingExecutor::Park(ThreadState& state, bool is_surplus,
                            int64_t deadline_ns) {
  SharedState& shared = state.shared;
  BecomeRealTime(state);
  const uint32_t active = active_.fetch_sub(1, std::memory_order_seq_cst);
  TAKT_CHECK(active > 0);
  Announce(state);
  const LaneMask lanes = state.lanes();
  bool stays =
      stopping_.load(std::memory_order_seq_cst) || shared.sleeper.raised() != 0;
  if (!stays && is_surplus) {
    stays = !shared.own_hints.Read(std::memory_order_seq_cst).empty() ||
            (active_.load(std::memory_order_seq_cst) < concurrency_ &&
             HasWork(state, lanes));
  } else if (!stays) {
    stays = HasWork(state, lanes);
    // It counted as one that could run the jobs of the other lanes.
    if (!stays && state.lane_min > 0 && HasWork(state, LaneMask::All())) {
      Wake(1, 0, nullptr, &state, 0);
    }
  }
  if (!stays) {
    if (cores_ != nullptr && active == 1) cores_->BecomeIdle();
    Sleep(state, deadline_ns);
  }
  Return(state);
}

void StealingExecutor::TrimIfAsked(WorkerSlot& slot) {
  const uint32_t trim_count = trim_count_.load(std::memory_order_relaxed);
  if (slot.trim_seen == trim_count) return;
  slot.trim_seen = trim_count;
  slot.worker.ReleaseLocalMemory();
  slot.local_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace takt::exec
