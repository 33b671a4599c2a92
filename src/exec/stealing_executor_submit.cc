// How jobs of the work-stealing executor become known, and which threads are
// woken for them.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "exec/expected_time.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// A shorter job is left to the helping caller that submits it. Two threads
// would not end it sooner, because the second thread takes kHelperNs to start.
constexpr int64_t kSmallJobNs = 2 * kHelperNs;

bool IsSmall(const Job& job) {
  if (job.expected_tile_ns <= 0) return job.tile_count == 1;
  return job.expected_tile_ns < kSmallJobNs / job.tile_count;
}

}  // namespace

uint32_t StealingExecutor::HelpersWorth(const Job& job) const {
  uint64_t helpers = job.unclaimed_count(std::memory_order_relaxed);
  if (job.is_single() || helpers == 0) return 0;
  if (job.expected_tile_ns > 0) {
    const int64_t expected_ns = ExpectedNs(job, helpers);
    const uint64_t searching =
        IsSearching(job.lane_now()) && expected_ns > kSearchingHelperNs ? 1 : 0;
    helpers = std::min(
        helpers,
        std::max(static_cast<uint64_t>(expected_ns / kHelperNs), searching));
  }
  if (job.allowed != nullptr) {
    helpers = std::min<uint64_t>(helpers, job.allowed->count());
  }
  return static_cast<uint32_t>(std::min<uint64_t>(helpers, concurrency_));
}

void StealingExecutor::BeginSeries(uint32_t lane) {
  series_.fetch_add(1, std::memory_order_relaxed);
  if (!IsSearching(lane)) Wake(1, lane, nullptr, WorkingStateHere(), 0);
}

void StealingExecutor::EndSeries() {
  const uint32_t before = series_.fetch_sub(1, std::memory_order_relaxed);
  TAKT_CHECK(before > 0);
}

uint32_t StealingExecutor::ThreadsToWake(const Job& job) const {
  return std::clamp<uint32_t>(HelpersWorth(job), 1, kWakeBranches);
}

void StealingExecutor::Submit(Job* job) {
  TAKT_DCHECK(job->tile_count > 0 && job->lane < kLaneCount);
  TAKT_DCHECK(job->mailbox_.load(std::memory_order_relaxed) == nullptr);
  job->claimed_.store(0, std::memory_order_relaxed);
  job->tickets_.store(1, std::memory_order_relaxed);
  job->is_posted_.store(false, std::memory_order_relaxed);
  job->is_being_posted_.store(false, std::memory_order_relaxed);
  if (backup_count_ > 0) {
    submitted_lanes_.Add(job->lane_now(), std::memory_order_relaxed);
  }
  ThreadState* const state = StateHere();
  if (state != nullptr && state->is_working) {
    SubmitWorking(*state, job);
    return;
  }
  const bool stopping = stopping_.load(std::memory_order_seq_cst);
  if (job->allowed != nullptr && !stopping) {
    ClaimCores(*job);
    PostLimited(job);
    return;
  }
  // A helping caller comes to the job by itself, if its thread waits next in
  // this executor, and for a job of such a lane.
  const bool is_caller = state != nullptr && state == innermost_ &&
                         job->lane_now() >= state->worker->lane_min_;
  if (is_caller && state->next == nullptr && job->is_single() &&
      IsSmall(*job) && !stopping) {
    state->next = job;
    return;
  }
  ClaimCores(*job);
  uint32_t threads = 0;
  if (!is_caller || !IsSmall(*job)) threads = ThreadsToWake(*job);
  const uint32_t lane = shared_mailbox_.Post(job);  // It may be gone now.
  shared_hints_.Add(lane);
  // Shutdown() may have begun since, and have looked before the job was posted.
  // A thread that is woken may drop the executor, so it is read before that.
  const bool stops = stopping_.load(std::memory_order_seq_cst);
  Wake(threads, lane, nullptr, nullptr, is_caller ? 1 : 0);
  if (!is_caller) WakeBackupIfNeeded(lane, nullptr);
  if (stops) RunHere();
}

void StealingExecutor::SubmitWorking(ThreadState& state, Job* job) {
  ClaimCores(*job);
  if (job->allowed != nullptr &&
      (!job->is_single() || !Mailbox::MayRun(*job, MailboxIndex(state)))) {
    PostLimited(job);
    return;
  }
  if (state.is_finishing && job->lane_now() >= state.lane_min) {
    // Last in, first out, because the cache holds the data of the newest job.
    Job* other = std::exchange(state.next, job);
    if (other == nullptr) return;
    if (other->lane_now() == job->lane_now() &&
        other->deadline_ns < job->deadline_ns) {
      std::swap(other, state.next);
    }
    PushSurplus(state, other);
    return;
  }
  if (job->allowed != nullptr) {
    PostLimited(job);
    return;
  }
  const uint32_t threads = ThreadsToWake(*job);
  const bool is_small = job->lane_now() >= state.lane_min &&
                        job->expected_tile_ns > 0 && IsSmall(*job);
  const bool is_own = state.slot() != nullptr && job->may_be_in_deque();
  const uint32_t lane =
      (is_own ? state.slot()->mailbox : shared_mailbox_).Post(job);
  shared_hints_.Add(lane);
  if (!is_small) Wake(threads, lane, nullptr, &state, 0);
}

void StealingExecutor::PushSurplus(ThreadState& state, Job* job) {
  if (job->allowed != nullptr) {
    PostLimited(job);
    return;
  }
  uint32_t lane = job->lane_now();
  state.backlog_ns += std::min(ExpectedNs(*job, job->tile_count), kHelperNs);
  WorkerSlot* const slot = job->may_be_in_deque() ? state.slot() : nullptr;
  if (slot == nullptr) {
    lane = shared_mailbox_.Post(job);
  } else if (!slot->PushDeque(job)) {
    slot->mailbox.Post(job);
  }
  shared_hints_.Add(lane);
  if (state.backlog_ns >= kHelperNs) {
    state.backlog_ns = 0;
    Wake(1, lane, nullptr, &state, 0);
  }
}

void StealingExecutor::SpillNextJob(ThreadState& state) {
  Job* const job = std::exchange(state.next, nullptr);
  const uint32_t lane = job->lane_now();
  const bool is_limited = job->allowed != nullptr;
  PushSurplus(state, job);
  // PostLimited() has done so for a limited job.
  if (!is_limited) WakeBackupIfNeeded(lane, nullptr);
}

void StealingExecutor::PostLimited(Job* job) {
  TAKT_DCHECK(job->allowed != nullptr);
  // The worker with the fewest jobs in its mailbox.
  const WorkerSet& allowed = *job->allowed;
  WorkerSlot* target = nullptr;
  for (auto& slot : workers_) {
    if (!allowed.Contains(slot->index)) continue;
    if (target == nullptr || slot->mailbox.size() < target->mailbox.size()) {
      target = slot.get();
    }
  }
  TAKT_CHECK(target != nullptr);
  const uint32_t threads = ThreadsToWake(*job);
  const uint32_t lane = target->mailbox.Post(job);
  // The job may be gone; the set is the executor's.
  for (auto& slot : workers_) {
    if (allowed.Contains(slot->index)) AddOwnHint(*slot, lane);
  }
  Wake(threads, lane, &allowed, nullptr, 0);
  WakeBackupIfNeeded(lane, &allowed);
  if (stopping_.load(std::memory_order_seq_cst) &&
      WorkingStateHere() == nullptr) {
    RunHere();
  }
}

void StealingExecutor::Raise(Job* job, int32_t lane) {
  job->SetRaised(lane);
  if (cores_ != nullptr) MoveClaim(*job);
  JobTraits now;
  // A thread that posts it from here on sees the lane.
  if (!Mailbox::Relist(job, &now)) return;
  if (backup_count_ > 0) {
    submitted_lanes_.Add(now.lane, std::memory_order_relaxed);
  }
  if (now.allowed == nullptr) {
    shared_hints_.Add(now.lane);
  } else {
    for (auto& slot : workers_) {
      if (now.allowed->Contains(slot->index)) AddOwnHint(*slot, now.lane);
    }
  }
  Wake(1, now.lane, now.allowed, nullptr, 0);
  WakeBackupIfNeeded(now.lane, now.allowed);
}

void StealingExecutor::AddOwnHint(WorkerSlot& slot, uint32_t lane) {
  slot.state.shared.own_hints.Add(lane);
  if (slot.backup != nullptr) slot.backup->state.shared.own_hints.Add(lane);
}

void StealingExecutor::Wake(uint32_t count, uint32_t lane,
                            const WorkerSet* allowed, const ThreadState* from,
                            uint32_t others) {
  if (count == 0 || !idle_.HasIdle()) return;
  // A thread that waits for the processor of another one does nothing now, and
  // leaves a processor to one that is woken.
  const uint32_t crowding = cpu_load_.crowding();
  if (allowed == nullptr) {
    // Threads that search already will find the job.
    const uint32_t searching = searching_.load(std::memory_order_seq_cst);
    const uint32_t finding = searching - std::min(searching, crowding);
    if (count <= finding) return;
    count -= finding;
  }
  for (; count > 0; --count) {
    const uint32_t active = active_.load(std::memory_order_seq_cst) + others;
    if (allowed == nullptr && active >= concurrency_ &&
        active >= cpu_count_ + crowding) {
      return;
    }
    if (cores_ != nullptr && allowed == nullptr && HoldsBack(lane, active)) {
      return;
    }
    if (!WakeOne(lane, allowed, from)) return;
  }
}

bool StealingExecutor::WakeOne(uint32_t lane, const WorkerSet* allowed,
                               const ThreadState* from) {
  // The kernel lets a thread wake up where it slept. If that is this thread's
  // processor, and all processors were busy lately, it leaves both there for a
  // while.
  const int here = sched_getcpu();
  const WorkerSlot* const near = from != nullptr ? from->slot() : nullptr;
  const auto distance = [&](const IdleNode& node) {
    const auto& idle = static_cast<const SharedState&>(node);
    // A thread that moves is idle, too, and is the last one to be woken.
    if (from != nullptr && &idle == &from->shared) return 4;
    const int collides = idle.last_cpu == here ? 1 : 0;
    if (lane < idle.idle_lane_min) return -1;
    if (allowed != nullptr &&
        (idle.slot == nullptr || !allowed->Contains(idle.slot->index))) {
      return -1;
    }
    if (is_flat_ || near == nullptr || idle.slot == nullptr) return collides;
    return collides + (idle.slot->cluster == near->cluster ? 0 : 2);
  };
  bool is_raised = false;
  auto* woken =
      static_cast<SharedState*>(idle_.Take(distance, [&](IdleNode& node) {
        auto& idle = static_cast<SharedState&>(node);
        active_.fetch_add(1, std::memory_order_seq_cst);
        // A helping caller takes the lock before it leaves, and may be gone
        // after that; a worker stays.
        if (idle.is_helping_caller) {
          is_raised = true;
          idle.sleeper.Raise(SharedState::kWork);
        } else if (idle.may_be_late) {
          AwaitStart(idle, here);
        }
      }));
  if (woken == nullptr) return false;
  if (!is_raised) woken->sleeper.Raise(SharedState::kWork);
  if (from != nullptr) from->counters->wakes.Add(1);
  return true;
}

void StealingExecutor::AwaitStart(SharedState& idle, int here) {
  TAKT_CHECK(idle.start.load() == SharedState::Start::kDone);
  idle.woken_ns.store(NowNs(), std::memory_order_relaxed);
  idle.woken_on.store(here, std::memory_order_relaxed);
  starting_.fetch_add(1, std::memory_order_relaxed);
  idle.start.store(SharedState::Start::kAwaited, std::memory_order_release);
}

void StealingExecutor::MoveLateStarters() {
  using Start = SharedState::Start;
  if (fills_cpus_) {
    const uint32_t active = active_.load(std::memory_order_relaxed);
    const uint32_t elsewhere =
        starting_.load(std::memory_order_relaxed) + cpu_load_.crowding();
    // Every processor has a thread at work already.
    if (active >= cpu_count_ + elsewhere) return;
  }
  const int64_t now_ns = NowNs();
  for (const auto& slot : workers_) {
    SharedState& shared = slot->state.shared;
    Start start = shared.start.load(std::memory_order_acquire);
    if (start != Start::kAwaited ||
        now_ns - shared.woken_ns.load(std::memory_order_relaxed) < kLateNs ||
        !shared.start.compare_exchange_strong(start, Start::kMoving)) {
      continue;
    }
    slot->thread.MoveOff(shared.woken_on.load(std::memory_order_relaxed));
    shared.start.store(Start::kMoved, std::memory_order_release);
  }
}

void StealingExecutor::EndStart(ThreadState& state) {
  using Start = SharedState::Start;
  SharedState& shared = state.shared;
  Start start = Start::kAwaited;
  if (shared.start.compare_exchange_strong(start, Start::kDone)) {
    starting_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (start == Start::kDone) return;
  while (shared.start.load(std::memory_order_acquire) == Start::kMoving) {
    sched_yield();
  }
  state.slot()->thread.ComeBack();
  shared.start.store(Start::kDone, std::memory_order_relaxed);
  starting_.fetch_sub(1, std::memory_order_relaxed);
}

void StealingExecutor::WakeAll() {
  idle_.ForEach([](IdleNode& node) {
    static_cast<SharedState&>(node).sleeper.Raise(SharedState::kWork);
  });
}

void StealingExecutor::Flush() {
  if (ThreadState* const state = StateHere()) {
    SpillNext(*state);
    if (state->is_working) return;
  }
  if (shared_mailbox_.lanes().empty()) return;
  // Sequentially consistent: Shutdown() sees what was spilled, or this thread
  // that it has begun.
  if (workers_.empty() || stopping_.load(std::memory_order_seq_cst)) {
    RunHere();
    return;
  }
  Wake(kWakeBranches, kLaneCount - 1, nullptr, nullptr, 0);
}

}  // namespace takt::exec
