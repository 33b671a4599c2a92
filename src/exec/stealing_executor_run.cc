// How threads of the work-stealing executor run the jobs that they found.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// A claim costs some 50 ns and a cache line that travels, so a range should
// last much longer than that. No other thread can take over a claimed range, so
// it should not last for very long.
constexpr int64_t kRangeMinNs = 4'000;
constexpr int64_t kRangeMaxNs = 20'000;

uint32_t TilesOf(int64_t duration_ns, const Job& job) {
  return static_cast<uint32_t>(std::clamp<int64_t>(
      duration_ns / job.expected_tile_ns, 1, job.tile_count));
}

// What stops a thread that runs `job`, at the end of a tile.
LaneMask StopsFor(const ThreadState& state, const Job& job) {
  const LaneMask above = LaneMask::Above(job.lane_now());
  return state.is_helping_caller() ? above | LaneMask::LeaveRequest() : above;
}

}  // namespace

bool StealingExecutor::TakesFromBack() const {
  return back_cpu_ >= 0 && sched_getcpu() >= back_cpu_;
}

bool StealingExecutor::EndRange(const Job& job) {
  ThreadState* const state = innermost_;
  if (state == nullptr || state->executor != this) return false;
  MoveLate();
  (void)FireOverdueTimer(*state);  // The job looks whether it is preempted.
  return MustMove(*state) ||
         (state->is_helping_caller() && MustLeave(*state)) ||
         MustYield(job.core_lane());
}

inline RunningWork StealingExecutor::EnterWatchedJob(ThreadState& state,
                                                     const Job& job) {
  const RunningWork outer =
      state.shared.running.load(std::memory_order_relaxed);
  const RunningWork now = RunningWork::Of(job);
  if (RealTimeThread* const real_time = state.real_time) {
    if (RealTimeThread::IsForOrdinary(job.lane_now())) {
      // Other threads may have its processor before the tile ends.
      EnterLong(state, job, now.WithLongTiles());
      real_time->SetOrdinary(true);
      return outer;
    }
    real_time->SetOrdinary(false);
  }
  if (now.is_long()) {
    EnterLong(state, job, now);
  } else {
    state.shared.running.store(now, std::memory_order_relaxed);
  }
  return outer;
}

inline void StealingExecutor::LeaveWatchedJob(ThreadState& state,
                                              RunningWork outer) {
  std::atomic<RunningWork>& running = state.shared.running;
  const RunningWork now = running.load(std::memory_order_relaxed);
  TAKT_DCHECK(!now.is_nothing());
  if (state.is_helping_caller() && now.is_long()) {
    long_callers_.Remove(now.lane());
  }
  if (state.real_time != nullptr) {
    // Sequentially consistent: a thread that submits a job more urgent than
    // the one to which this thread returns sees that, or this thread finds the
    // job before it becomes an ordinary one.
    running.store(outer.is_nothing() && state.is_ordinary()
                      ? RunningWork::IdleAsOrdinary()
                      : outer,
                  std::memory_order_seq_cst);
    return;
  }
  running.store(outer, std::memory_order_relaxed);
}

inline void StealingExecutor::RunRange(ThreadState& state, Job& job,
                                       uint32_t begin, uint32_t end) {
  state.counters->ranges.Add(1);
  state.counters->tiles.Add(end - begin);
  Worker& worker = *state.worker;
  const uint32_t reached = job.RunTiles(begin, end, worker);
  TAKT_DCHECK(reached > begin && reached <= end);
  // A job that has no tiles left here ends or goes elsewhere first: under more
  // urgent work that never pauses it would wait on this thread for good.
  if (__builtin_expect(reached < end, 0)) RunRest(state, job, reached, end);
}

inline void StealingExecutor::FinishJob(ThreadState& state, Job& job) {
  TAKT_DCHECK(!state.is_finishing);
  state.counters->jobs.Add(1);
  const uint32_t claim = cores_ != nullptr ? EndTiles(job) : 0;
  state.is_finishing = !job.is_closure_;
  job.Finish(*state.worker);  // It may be gone now.
  state.is_finishing = false;
  EndClaim(claim);
}

void StealingExecutor::RunChain(ThreadState& state) {
  Worker& worker = *state.worker;
  WorkerSlot& slot = *state.slot();
  while (Job* const job = state.next) {
    const uint32_t lane = job->lane_now();
    // A job of this lane that waits in a mailbox may be due earlier, or may
    // have waited for long. From other places only a higher lane comes first.
    const LaneMask mail = MailLanes(state);
    const LaneMask others = slot.deque_lanes.Read(std::memory_order_relaxed) |
                            HintedLanes(state, std::memory_order_seq_cst);
    if (mail.HasAtLeast(lane) || others.HasAbove(lane) || !job->is_single() ||
        job->local_bytes > worker.local_bytes || IsSurplus(state) ||
        MustMove(state) || MustYield(job->core_lane())) {
      return;
    }
    state.next = nullptr;
    if (fills_cpus_) cpu_load_.Enter(sched_getcpu(), &state.seen_on);
    worker.stops_for_ = LaneMask::Above(lane);
    EnterJob(state, *job);
    RunRange(state, *job, 0, job->tile_count);
    worker.stops_for_ = LaneMask();
    FinishJob(state, *job);
    LeaveJob(state, RunningWork());
  }
}

bool StealingExecutor::RunKept(ThreadState& state) {
  Job* const job = state.next;
  if (job == nullptr) return false;
  if (shared_mailbox_.lanes().HasAtLeast(job->lane_now()) ||
      HintedLanes(state, std::memory_order_seq_cst).HasAbove(job->lane_now())) {
    return false;
  }
  state.next = nullptr;
  RunJob(state, {job, false});
  return true;
}

void StealingExecutor::RunJob(ThreadState& state, FoundJob found) {
  Job& job = *found.job;
  TAKT_DCHECK(state.is_working);
  if (fills_cpus_) cpu_load_.Enter(sched_getcpu(), &state.seen_on);
  Worker& worker = *state.worker;
  const LaneMask outer_stops_for =
      std::exchange(worker.stops_for_, StopsFor(state, job));
  const RunningWork outer_running = EnterJob(state, job);
  // If the system has no more memory, the job sees that it has too little.
  if (job.local_bytes > worker.local_bytes) {
    (void)worker.ReserveLocalMemory(job.local_bytes);
    if (WorkerSlot* const slot = state.slot()) {
      slot->local_bytes.store(worker.local_bytes, std::memory_order_relaxed);
    }
  }
  bool is_last = true;
  if (job.is_single()) {
    RunRange(state, job, 0, job.tile_count);
  } else {
    is_last = RunShared(state, found);
  }
  worker.stops_for_ = outer_stops_for;
  if (is_last) FinishJob(state, job);
  LeaveJob(state, outer_running);
}

bool StealingExecutor::RunShared(ThreadState& state, FoundJob found) {
  Job& job = *found.job;
  const bool is_known = job.expected_tile_ns > 0;
  uint32_t range_max = is_known ? TilesOf(kRangeMaxNs, job) : 1;
  int64_t start_ns = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool is_first = true;
  bool has_second_ticket = false;
  const bool from_back = TakesFromBack();
  while (Claim(job, range_max, from_back, &begin, &end)) {
    if (is_first) {
      is_first = false;
      has_second_ticket = Spread(state, job, found.is_listed);
      if (!is_known) start_ns = NowNs();
    }
    if (job.can_be_raised) {
      state.worker->stops_for_ = StopsFor(state, job);
    }
    RunRange(state, job, begin, end);
    MoveLate();
    (void)FireOverdueTimer(state);
    if (__builtin_expect(state.worker->IsPreempted(), 0)) {
      CountPreemption(state, job);
      break;
    }
    if (!is_known) {  // Finds a good length of ranges by trying.
      const int64_t now_ns = NowNs();
      const int64_t range_ns = now_ns - start_ns;
      start_ns = now_ns;
      if (range_ns < kRangeMinNs && range_max <= job.tile_count / 2) {
        range_max *= 2;
      }
      if (range_ns > kRangeMaxNs) range_max = std::max(range_max / 4, 1u);
    }
    if (state.is_helping_caller() ? MustLeave(state) : IsSurplus(state)) break;
    if (MustYield(job.core_lane())) break;
    if (__builtin_expect(IsOvertaken(job), 0)) break;
    if (__builtin_expect(HoldsUpRaised(state, job), 0)) break;
  }
  return DropTickets(state, job, has_second_ticket);
}

bool StealingExecutor::DropTickets(ThreadState& state, Job& job,
                                   bool has_second_ticket) {
  uint32_t dropped = 1;
  // `is_posted_`: sequentially consistent with PostSecondTicket().
  if (job.HasUnclaimed()) {
    dropped += PostSecondTicket(job);
  } else if (job.is_posted_.load(std::memory_order_seq_cst) &&
             Mailbox::Unlist(&job)) {
    ++dropped;
  }
  // There the job would wait for what this thread runs next.
  if (has_second_ticket && state.slot()->deques[job.lane].PopIf(&job)) {
    ++dropped;
  }
  // Release: the thread that drops the last ticket sees what all tiles have
  // written.
  const uint32_t tickets =
      job.tickets_.fetch_sub(dropped, std::memory_order_acq_rel);
  TAKT_CHECK(tickets >= dropped);
  return tickets == dropped;
}

// Apart from RunRange(), through which every small job goes.
__attribute__((noinline)) void StealingExecutor::RunRest(ThreadState& state,
                                                         Job& job,
                                                         uint32_t begin,
                                                         uint32_t end) {
  Worker& worker = *state.worker;
  while (true) {
    if (HintedLanes(state, std::memory_order_relaxed)
            .Intersects(LaneMask::Above(job.lane_now()))) {
      RunMoreUrgent(state, job);
    }
    if (begin >= end) return;
    const uint32_t reached = job.RunTiles(begin, end, worker);
    TAKT_DCHECK(reached > begin && reached <= end);
    begin = reached;
  }
}

void StealingExecutor::CountPreemption(ThreadState& state, const Job& job) {
  state.counters->preemptions.Add(1);
  RecordHere(EventKind::kPreemption, job.lane_now());
}

void StealingExecutor::RunMoreUrgent(ThreadState& state, const Job& job) {
  CountPreemption(state, job);
  InterruptedJob interrupted = {&job, state.interrupted};
  state.interrupted = &interrupted;
  const uint32_t outer = state.lane_min;
  RealTimeThread* const real_time = state.real_time;
  if (real_time != nullptr) real_time->SetOrdinary(false);
  while (true) {
    state.lane_min = job.lane_now() + 1;
    const FoundJob found = Find(state, /*clear=*/true);
    if (found.job == nullptr) break;
    RunJob(state, found);
  }
  if (real_time != nullptr) {
    real_time->SetOrdinary(RealTimeThread::IsForOrdinary(job.lane_now()));
  }
  TAKT_DCHECK(state.interrupted == &interrupted);
  state.interrupted = interrupted.outer;
  state.lane_min = outer;
}

bool StealingExecutor::HoldsUpRaised(const ThreadState& state, const Job& job) {
  const uint32_t lane = job.lane_now();
  for (const InterruptedJob* each = state.interrupted; each != nullptr;
       each = each->outer) {
    if (each->job->is_raised() && each->job->lane_now() >= lane) return true;
  }
  return false;
}

bool StealingExecutor::Claim(Job& job, uint32_t range_max, bool from_back,
                             uint32_t* begin, uint32_t* end) const {
  const uint64_t count = job.tile_count;
  const uint64_t least =
      job.expected_tile_ns > 0 ? TilesOf(kRangeMinNs, job) : 1;
  uint64_t claimed = job.claimed_.load(std::memory_order_relaxed);
  while (true) {
    const uint64_t first = Job::FromFront(claimed);
    const uint64_t last = count - Job::FromBack(claimed);
    TAKT_DCHECK(first <= last);
    if (first >= last) return false;
    // Large ranges first, small ones towards the end: few claims, and all
    // threads end at about the same time.
    uint64_t size = std::max((last - first) / (2 * max_concurrency()), least);
    size = std::min({size, uint64_t{range_max}, last - first});
    if (job.claimed_.compare_exchange_weak(
            claimed, Job::Claimed(claimed, size, from_back),
            std::memory_order_seq_cst, std::memory_order_relaxed)) {
      *begin = static_cast<uint32_t>(from_back ? last - size : first);
      *end = static_cast<uint32_t>(*begin + size);
      return true;
    }
  }
}

bool StealingExecutor::Spread(ThreadState& state, Job& job, bool is_listed) {
  const uint32_t helpers = HelpersWorth(job);
  if (helpers == 0) return false;
  bool has_second_ticket = false;
  if (!is_listed && !job.is_posted_.load(std::memory_order_seq_cst)) {
    if (state.slot() != nullptr && job.may_be_in_deque()) {
      // Relaxed: this thread's own ticket keeps the job.
      job.tickets_.fetch_add(1, std::memory_order_relaxed);
      has_second_ticket = state.slot()->PushDeque(&job);
      if (!has_second_ticket) {
        job.tickets_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    if (!has_second_ticket) {
      const uint32_t back = PostSecondTicket(job);
      if (back != 0) job.tickets_.fetch_sub(back, std::memory_order_relaxed);
    }
  }
  const uint32_t lane = job.lane_now();
  if (job.allowed == nullptr) shared_hints_.Add(lane);
  Wake(std::min(helpers, kWakeBranches), lane, job.allowed, &state, 0);
  if (IsWorthBackup(job)) WakeBackupIfNeeded(lane, job.allowed);
  return has_second_ticket;
}

uint32_t StealingExecutor::PostSecondTicket(Job& job) {
  // A job that only some workers may run has been in a mailbox from the start.
  if (job.is_posted_.load(std::memory_order_seq_cst)) return 0;
  if (job.is_being_posted_.exchange(true, std::memory_order_relaxed)) return 0;
  TAKT_DCHECK(job.allowed == nullptr);
  job.tickets_.fetch_add(1, std::memory_order_relaxed);
  shared_hints_.Add(shared_mailbox_.Post(&job));
  // The thread that claimed the last tile has seen that the job is posted, or
  // this thread sees here that no tile is left.
  return !job.HasUnclaimed() && Mailbox::Unlist(&job) ? 1 : 0;
}

}  // namespace takt::exec
