// How threads of the work-stealing executor run jobs.
#include <sched.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/pause.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// Claiming a range costs some 50 ns and a cache line that travels, so ranges
// should last much longer than that; what is claimed cannot be taken over by
// another thread, so not very long.
constexpr int64_t kRangeMinNs = 4'000;
constexpr int64_t kRangeMaxNs = 20'000;
constexpr uint32_t kWakeBranches = 2;

uint32_t TilesOf(int64_t duration_ns, const Job& job) {
  return static_cast<uint32_t>(std::clamp<int64_t>(
      duration_ns / job.expected_tile_ns, 1, job.tile_count));
}

}  // namespace

// Has the worker of a thread look at this executor's lanes meanwhile.
class StealingExecutor::ScopedLaneWatch {
 public:
  ScopedLaneWatch(Worker& worker, const std::atomic<uint32_t>& urgent_lanes,
                  const std::atomic<uint32_t>& wanted_lanes)
      : worker_(worker),
        outer_urgent_(std::exchange(worker.urgent_lanes_, &urgent_lanes)),
        outer_wanted_(std::exchange(worker.wanted_lanes_, &wanted_lanes)),
        // Until a job runs, nothing is interrupted.
        outer_preempting_(std::exchange(worker.preempting_lanes_, 0)) {}
  ~ScopedLaneWatch() {
    worker_.urgent_lanes_ = outer_urgent_;
    worker_.wanted_lanes_ = outer_wanted_;
    worker_.preempting_lanes_ = outer_preempting_;
  }
  ScopedLaneWatch(const ScopedLaneWatch&) = delete;
  ScopedLaneWatch& operator=(const ScopedLaneWatch&) = delete;

 private:
  Worker& worker_;
  const std::atomic<uint32_t>* const outer_urgent_;
  const std::atomic<uint32_t>* const outer_wanted_;
  const uint32_t outer_preempting_;
};

void StealingExecutor::RecordHere(EventKind kind, int64_t value) {
  if (!tracer().is_on()) return;
  Event event;
  event.time_ns = NowNs();
  event.kind = kind;
  event.value = value;
  tracer().Record(event);
}

void StealingExecutor::RunThread(void* argument) {
  auto* seat = static_cast<Seat*>(argument);
  StealingExecutor* executor = seat->member.executor;
  ThisThread() = &seat->member;
  Tracer::NameThisThread(TrackKind::kWorker, seat->trace_name);
  seat->worker.urgent_lanes_ = &executor->urgent_lanes_;
  seat->worker.wanted_lanes_ = &seat->member.wanted_lanes;
  if (seat->thread.report().fifo_priority > 0 && executor->watches_jobs_) {
    seat->real_time.thread = &seat->thread;
    seat->member.real_time = &seat->real_time;
  }
  executor->RunWorker(seat->member);
  ThisThread() = nullptr;
  // Only set on this thread, by Shutdown() from within a job.
  if (seat->holds_executor) executor->Release();
}

void StealingExecutor::RunWorker(Member& member) {
  while (true) {
    const bool makes_way = MakesWay(member);
    if (makes_way) {
      SpillNext(member);
    } else {
      BecomeRealTimeIfNeeded(member);
      // What it was wanted for may be done: then it may make way again.
      Found found = Find(member, /*clear=*/member.wanted_lanes.load(
                                     std::memory_order_relaxed) != 0);
      if (found.job != nullptr || Search(member, &found)) {
        if (found.job != nullptr) {
          RunJob(member, found);
          RunChain(member);
        }
        continue;
      }
      if (stopping_.load(std::memory_order_seq_cst)) break;
    }
    TrimIfAsked(*member.seat);
    Park(member, makes_way, kInfiniteFuture);
  }
  active_.fetch_sub(1, std::memory_order_seq_cst);
}

bool StealingExecutor::RunDonor(HelpingCaller::Impl& helper,
                                int64_t deadline_ns) {
  Member& member = helper.member;
  Sleeper& sleeper = member.sleeper;
  if ((sleeper.raised() & kNotified) != 0) {
    TakeNotified(member);
    return true;
  }
  bool notified = false;
  helper.has_worked = true;
  member.is_working = true;
  const ScopedLaneWatch watch(*member.worker, urgent_lanes_,
                              member.wanted_lanes);
  member.lane_min = worker_count() > 0 ? helper.lane : 0;
  // A worker that waits within a job goes on with that as it was.
  const bool was_ordinary = IsOrdinary(member);
  if (RunKept(member) && (sleeper.raised() & kNotified) != 0) {
    member.is_working = false;
    SpillNext(member);
    if (was_ordinary) SetOrdinary(*member.real_time, true);
    TakeNotified(member);
    return true;
  }
  active_.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    notified = (sleeper.raised() & kNotified) != 0;
    if (notified) break;
    if (deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns) break;
    Found found = Find(member, /*clear=*/false);
    if (found.job != nullptr || Search(member, &found)) {
      if (found.job != nullptr) RunJob(member, found);
      continue;
    }
    Park(member, /*makes_way=*/false, deadline_ns);
  }
  SpillNext(member);
  member.is_working = false;
  active_.fetch_sub(1, std::memory_order_seq_cst);
  // A worker that made way may come back.
  if (idle_.HasIdle() && HasWork(member, kAllLanes)) {
    // This thread goes on elsewhere; but somebody must do it.
    const uint32_t others = concurrency_ > 1 ? 1 : 0;
    Wake(kWakeBranches, kLaneCount - 1, nullptr, &member, others);
  }
  if (was_ordinary) SetOrdinary(*member.real_time, true);
  if (notified) TakeNotified(member);
  return notified;
}

void StealingExecutor::TakeNotified(Member& member) {
  member.sleeper.Take(kNotified);
  member.wanted_lanes.fetch_and(~kLeave, std::memory_order_relaxed);
}

void StealingExecutor::RunHere() {
  Member member;
  Counters counters;
  member.executor = this;
  member.outer = ThisThread();
  member.worker = &ThisThreadsScratch();
  member.counters = &counters;
  member.is_working = true;
  const ScopedLaneWatch watch(*member.worker, urgent_lanes_,
                              member.wanted_lanes);
  ThisThread() = &member;
  const uint32_t index = std::exchange(member.worker->index, worker_count());
  active_.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    Found found = Find(member, /*clear=*/false);
    // Nobody comes after this thread, so it doesn't go by hints.
    if (found.job == nullptr) found = Steal(member, kAllLanes);
    if (found.job == nullptr) break;
    RunJob(member, found);
  }
  active_.fetch_sub(1, std::memory_order_seq_cst);
  member.worker->index = index;
  ThisThread() = member.outer;
  AddDonorCounts(counters);
}

uint32_t StealingExecutor::RunReady(int64_t deadline_ns) {
  Member member;
  Counters counters;
  member.executor = this;
  member.outer = ThisThread();
  member.worker = &ThisThreadsScratch();
  member.counters = &counters;
  member.is_working = true;
  member.is_donor = true;  // It leaves between two ranges.
  member.leave_ns = deadline_ns;
  // What it was left by a call that is being made goes to all.
  if (member.outer != nullptr) {
    member.outer->executor->SpillNext(*member.outer);
    member.real_time = member.outer->real_time;
  }
  const bool was_ordinary = IsOrdinary(member);
  const ScopedLaneWatch watch(*member.worker, urgent_lanes_,
                              member.wanted_lanes);
  ThisThread() = &member;
  const uint32_t index = std::exchange(member.worker->index, worker_count());
  const uint32_t lane_min = std::exchange(member.worker->lane_min_, 0u);
  active_.fetch_add(1, std::memory_order_seq_cst);
  uint32_t count = 0;
  do {
    Found found = Find(member, /*clear=*/false);
    if (found.job == nullptr) found = Steal(member, kAllLanes);
    if (found.job == nullptr) break;
    RunJob(member, found);
    ++count;
  } while (deadline_ns == kInfiniteFuture || NowNs() < deadline_ns);
  SpillNext(member);
  active_.fetch_sub(1, std::memory_order_seq_cst);
  member.worker->lane_min_ = lane_min;
  member.worker->index = index;
  ThisThread() = member.outer;
  if (was_ordinary) SetOrdinary(*member.real_time, true);
  AddDonorCounts(counters);
  return count;
}

void StealingExecutor::AddDonorCounts(const Counters& counters) {
  MutexLock lock(&mutex_);
  donor_counts_ += counters.Read();
}

inline void StealingExecutor::RunRange(Member& member, Job& job, uint32_t begin,
                                       uint32_t end) {
  Scope* const scope = job.scope;
  if (scope != nullptr) {
    if (scope->failed()) {
      scope->AddSkipped();
      return;
    }
    scope->AddTiles(end - begin);
  }
  member.counters->ranges.Add(1);
  member.counters->tiles.Add(end - begin);
  Worker& worker = *member.worker;
  const uint32_t reached = job.RunTiles(begin, end, worker);
  TAKT_DCHECK(reached > begin && reached <= end);
  if (__builtin_expect(reached < end || worker.IsPreempted(), 0)) {
    RunRest(member, job, reached, end);
  }
}

inline void StealingExecutor::FinishJob(Member& member, Job& job) {
  Scope* const scope = job.scope;
  member.counters->jobs.Add(1);
  member.is_finishing = !job.is_closure_;
  job.Finish(*member.worker);  // It may be gone now.
  member.is_finishing = false;
  if (scope != nullptr) scope->End();
}

void StealingExecutor::RunChain(Member& member) {
  Worker& worker = *member.worker;
  Seat& seat = *member.seat;
  while (Job* const job = member.next) {
    const uint32_t lane = job->lane;
    const uint32_t mail = seat.mailbox.lanes() | shared_mailbox_.lanes();
    const uint32_t above = seat.deque_lanes.load(std::memory_order_relaxed) |
                           urgent_lanes_.load(std::memory_order_seq_cst) |
                           member.wanted_lanes.load(std::memory_order_seq_cst);
    if ((mail | above >> 1) >> lane != 0 || !job->is_single() ||
        job->local_bytes > worker.local_bytes || MakesWay(member)) {
      return;
    }
    member.next = nullptr;
    worker.preempting_lanes_ = LanesAbove(lane);
    EnterJob(member, *job);
    RunRange(member, *job, 0, job->tile_count);
    worker.preempting_lanes_ = 0;
    FinishJob(member, *job);
    LeaveJob(member, 0);
  }
}

bool StealingExecutor::RunKept(Member& member) {
  Job* const job = member.next;
  if (job == nullptr) return false;
  const uint32_t mail = shared_mailbox_.lanes();
  const uint32_t above = urgent_lanes_.load(std::memory_order_seq_cst) |
                         member.wanted_lanes.load(std::memory_order_seq_cst);
  if ((mail | above >> 1) >> job->lane != 0) return false;
  member.next = nullptr;
  RunJob(member, {job, false});
  return true;
}

void StealingExecutor::RunJob(Member& member, Found found) {
  Job& job = *found.job;
  Worker& worker = *member.worker;
  const uint32_t outer_preempting =
      std::exchange(worker.preempting_lanes_,
                    LanesAbove(job.lane) | (member.is_donor ? kLeave : 0));
  const uint32_t outer_running = EnterJob(member, job);
  // Where there is none, the job sees that it has too little.
  if (job.local_bytes > worker.local_bytes) {
    (void)worker.ReserveLocalMemory(job.local_bytes);
    if (member.seat != nullptr) {
      member.seat->local_bytes.store(worker.local_bytes,
                                     std::memory_order_relaxed);
    }
  }
  bool is_last = true;
  if (job.is_single()) {
    RunRange(member, job, 0, job.tile_count);
  } else {
    is_last = RunShared(member, found);
  }
  worker.preempting_lanes_ = outer_preempting;
  if (is_last) FinishJob(member, job);
  LeaveJob(member, outer_running);
}

bool StealingExecutor::RunShared(Member& member, Found found) {
  Job& job = *found.job;
  const bool is_known = job.expected_tile_ns > 0;
  uint32_t range_max = is_known ? TilesOf(kRangeMaxNs, job) : 1;
  int64_t start_ns = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool is_first = true;
  bool has_second_ticket = false;
  const bool is_back = back_cpu_ >= 0 && sched_getcpu() >= back_cpu_;
  while (Claim(job, range_max, is_back, &begin, &end)) {
    if (is_first) {
      is_first = false;
      has_second_ticket = Spread(member, job, found.is_listed);
      if (!is_known) start_ns = NowNs();
    }
    RunRange(member, job, begin, end);
    if (!is_known) {  // Ranges of a good length, found by trying.
      const int64_t now_ns = NowNs();
      const int64_t range_ns = now_ns - start_ns;
      start_ns = now_ns;
      if (range_ns < kRangeMinNs && range_max < job.tile_count) range_max *= 2;
      if (range_ns > kRangeMaxNs) range_max = std::max(range_max / 4, 1u);
    }
    if (member.is_donor ? HasToLeave(member) : MakesWay(member)) break;
    if (__builtin_expect(IsOvertaken(job), 0)) break;
  }
  uint32_t dropped = 1;
  if (job.HasUnclaimed()) {
    dropped += GiveBack(job);
  } else {
    if (has_second_ticket && member.seat->deques[job.lane].PopIf(&job)) {
      ++dropped;
    }
    // Sequentially consistent with GiveBack().
    if (job.is_posted_.load(std::memory_order_seq_cst) &&
        job.mailbox_->Unlist(&job)) {
      ++dropped;
    }
  }
  // Release: whoever drops the last one sees what all tiles have written.
  return job.tickets_.fetch_sub(dropped, std::memory_order_acq_rel) == dropped;
}

// Apart from the above, which is on the way of every small job.
__attribute__((noinline)) void StealingExecutor::RunRest(Member& member,
                                                         Job& job,
                                                         uint32_t begin,
                                                         uint32_t end) {
  Worker& worker = *member.worker;
  while (true) {
    const uint32_t waiting =
        urgent_lanes_.load(std::memory_order_relaxed) |
        member.wanted_lanes.load(std::memory_order_relaxed);
    if ((waiting & LanesAbove(job.lane)) != 0) GiveWay(member, job);
    if (begin >= end) return;
    const uint32_t reached = job.RunTiles(begin, end, worker);
    TAKT_DCHECK(reached > begin && reached <= end);
    begin = reached;
  }
}

void StealingExecutor::GiveWay(Member& member, const Job& job) {
  member.counters->preemptions.Add(1);
  RecordHere(EventKind::kPreemption, job.lane);
  const uint32_t outer = std::exchange(member.lane_min, job.lane + 1u);
  RealTime* const real_time = member.real_time;
  if (real_time != nullptr) SetOrdinary(*real_time, false);
  while (true) {
    const Found found = Find(member, /*clear=*/true);
    if (found.job == nullptr) break;
    RunJob(member, found);
  }
  if (real_time != nullptr) SetOrdinary(*real_time, IsForOrdinary(job.lane));
  member.lane_min = outer;
}

bool StealingExecutor::Claim(Job& job, uint32_t range_max, bool is_back,
                             uint32_t* begin, uint32_t* end) const {
  const uint64_t count = job.tile_count;
  const uint64_t least =
      job.expected_tile_ns > 0 ? TilesOf(kRangeMinNs, job) : 1;
  uint64_t claimed = job.claimed_.load(std::memory_order_relaxed);
  while (true) {
    const uint64_t first = Job::FromFront(claimed);
    const uint64_t last = count - Job::FromBack(claimed);
    if (first >= last) return false;
    // Large ranges first, small ones towards the end: few claims, and all end
    // at about the same time.
    uint64_t size = std::max((last - first) / (2 * max_concurrency()), least);
    size = std::min({size, uint64_t{range_max}, last - first});
    if (job.claimed_.compare_exchange_weak(
            claimed, claimed + (is_back ? size << 32 : size),
            std::memory_order_seq_cst, std::memory_order_relaxed)) {
      *begin = static_cast<uint32_t>(is_back ? last - size : first);
      *end = static_cast<uint32_t>(*begin + size);
      return true;
    }
  }
}

bool StealingExecutor::Spread(Member& member, Job& job, bool is_listed) {
  const uint32_t helpers = HelpersWorth(job);
  if (helpers == 0) return false;
  bool has_second_ticket = false;
  if (!is_listed && !job.is_posted_.load(std::memory_order_seq_cst)) {
    if (member.seat != nullptr && !job.has_deadline()) {
      Seat& seat = *member.seat;
      const uint32_t lanes = seat.deque_lanes.load(std::memory_order_relaxed);
      if ((lanes >> job.lane & 1) == 0) {
        seat.deque_lanes.store(lanes | 1u << job.lane,
                               std::memory_order_seq_cst);
      }
      // Relaxed: this thread's own ticket keeps the job.
      job.tickets_.fetch_add(1, std::memory_order_relaxed);
      has_second_ticket = seat.deques[job.lane].Push(&job);
      if (!has_second_ticket) {
        job.tickets_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    if (!has_second_ticket) {
      const uint32_t back = GiveBack(job);
      if (back != 0) job.tickets_.fetch_sub(back, std::memory_order_relaxed);
    }
  }
  if (job.allowed == nullptr) SetUrgent(job.lane);
  Wake(std::min(helpers, kWakeBranches), job.lane, job.allowed, &member, 0);
  if (IsWorthBackup(job)) WakeBackupIfNeeded(job.lane, job.allowed);
  return has_second_ticket;
}

uint32_t StealingExecutor::GiveBack(Job& job) {
  // Kept for some workers: it has been in a mailbox from the start.
  if (job.is_posted_.load(std::memory_order_seq_cst)) return 0;
  if (job.is_being_posted_.exchange(true, std::memory_order_relaxed)) return 0;
  job.tickets_.fetch_add(1, std::memory_order_relaxed);
  shared_mailbox_.Post(&job);
  SetUrgent(job.lane);
  // Whoever claimed the last tile has seen that it is posted, or this thread
  // sees here that there are no more.
  return !job.HasUnclaimed() && shared_mailbox_.Unlist(&job) ? 1 : 0;
}

bool StealingExecutor::MakesWay(const Member& member) const {
  return member.seat != nullptr &&
         active_.load(std::memory_order_seq_cst) > concurrency_ &&
         !stopping_.load(std::memory_order_relaxed) &&
         member.wanted_lanes.load(std::memory_order_relaxed) == 0;
}

bool StealingExecutor::Search(Member& member, Found* found) {
  BecomeRealTime(member);
  if (linger_ns_ <= 0) return false;
  // One that leaves lanes to others can't be relied upon to find something.
  const bool is_counted = member.lane_min == 0;
  if (is_counted) searching_.fetch_add(1, std::memory_order_seq_cst);
  int64_t start_ns = -1;
  bool may_be = false;
  while (true) {
    *found = Find(member, /*clear=*/false);
    const uint32_t raised = member.sleeper.raised();
    // Who took this member from the list of idle ones may raise the flag when
    // it looks already. The caller looks once more, and that answers it.
    if ((raised & kWork) != 0) member.sleeper.Take(kWork);
    may_be = found->job != nullptr || raised != 0;
    if (may_be || stopping_.load(std::memory_order_relaxed)) break;
    if (MakesWay(member)) {
      may_be = true;  // Let the caller see to it.
      break;
    }
    const bool is_busy = active_.load(std::memory_order_relaxed) >
                         searching_.load(std::memory_order_relaxed);
    const int64_t budget_ns =
        std::min(is_busy ? linger_ns_ : spin_ns_,
                 member.is_donor ? donor_spin_max_ns_ : kInfiniteFuture);
    if (budget_ns <= 0) break;
    const int64_t now_ns = NowNs();
    // Not on a caller's thread, which has a purpose of its own.
    if (member.seat != nullptr && timers_ != nullptr &&
        timers_->FireAnywhere(now_ns)) {
      continue;  // It may have left something to this thread.
    }
    if (start_ns < 0) start_ns = now_ns;
    if (now_ns - start_ns >= budget_ns) break;
    // Who is asked to spin for long offers the processor to others meanwhile:
    // one of them may be about to make something ready.
    if (now_ns - start_ns >= patience_ns_) sched_yield();
    // Finding takes longer than looking whether there may be something.
    for (int i = 0; i < 8 && !HasMail(member); ++i) Pause();
  }
  if (is_counted && searching_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      found->job != nullptr && idle_.HasIdle() && HasWork(member, kAllLanes)) {
    // Nobody looks any more, and this one was relied upon.
    Wake(1, kLaneCount - 1, nullptr, &member, 0);
  }
  return may_be;
}

void StealingExecutor::Park(Member& member, bool makes_way,
                            int64_t deadline_ns) {
  BecomeRealTime(member);
  active_.fetch_sub(1, std::memory_order_seq_cst);
  member.last_cpu = sched_getcpu();
  idle_.Announce(member);
  const uint32_t lanes = kAllLanes & ~0u << member.lane_min;
  bool stays =
      stopping_.load(std::memory_order_seq_cst) || member.sleeper.raised() != 0;
  if (!stays && makes_way) {
    stays = member.wanted_lanes.load(std::memory_order_seq_cst) != 0 ||
            (active_.load(std::memory_order_seq_cst) < concurrency_ &&
             HasWork(member, lanes));
  } else if (!stays) {
    stays = HasWork(member, lanes);
    // It counted as one that could do something about the rest.
    if (!stays && lanes != kAllLanes && HasWork(member, kAllLanes)) {
      Wake(1, 0, nullptr, &member, 0);
    }
  }
  if (!stays) {
    member.counters->parks.Add(1);
    RecordHere(EventKind::kWorkerPark, 0);
    member.sleeper.Sleep(deadline_ns);
    RecordHere(EventKind::kWorkerWake, 0);
  }
  // Notified or late, not woken for work: then nobody has counted it.
  if (idle_.Withdraw(member)) active_.fetch_add(1, std::memory_order_seq_cst);
  member.sleeper.Take(kWork);
}

void StealingExecutor::TrimIfAsked(Seat& seat) {
  const uint32_t trim_count = trim_count_.load(std::memory_order_relaxed);
  if (seat.trim_seen == trim_count) return;
  seat.trim_seen = trim_count;
  seat.worker.ReleaseLocalMemory();
  seat.local_bytes.store(0, std::memory_order_relaxed);
}

Executor::HelpingCaller::HelpingCaller(Executor& executor, uint8_t lane) {
  static_assert(sizeof(Impl) <= sizeof(storage_));
  using Member = StealingExecutor::Member;
  auto* stealing = static_cast<StealingExecutor*>(&executor);
  Member*& innermost = StealingExecutor::ThisThread();
  // What this thread would have run next must not wait for this wait, nor what
  // was left to it as a helper of another executor.
  if (Member* const here = stealing->MemberHere()) stealing->SpillNext(*here);
  if (innermost != nullptr && innermost->executor != stealing) {
    innermost->executor->Flush();
  }
  new (storage_) Impl{};
  Member& member = impl()->member;
  member.executor = stealing;
  member.outer = innermost;
  member.worker = &StealingExecutor::ThisThreadsScratch();
  member.counters = &impl()->counters;
  member.is_donor = true;
  member.goes_to_back = true;
  if (innermost != nullptr) member.real_time = innermost->real_time;
  impl()->lane = lane;
  impl()->outer_lane_min = std::exchange(
      member.worker->lane_min_, stealing->worker_count() > 0 ? lane : 0u);
  impl()->outer_index =
      std::exchange(member.worker->index, stealing->worker_count());
  innermost = &member;
}

Executor::HelpingCaller::~HelpingCaller() {
  StealingExecutor::Member& member = impl()->member;
  StealingExecutor* const executor = member.executor;
  executor->SpillNext(member);
  StealingExecutor::ThisThread() = member.outer;
  member.worker->index = impl()->outer_index;
  member.worker->lane_min_ = impl()->outer_lane_min;
  if (impl()->has_worked) executor->AddDonorCounts(impl()->counters);
  impl()->~Impl();
  executor->Flush();
}

bool Executor::HelpingCaller::WaitUntilNotified(int64_t deadline_ns) {
  return impl()->member.executor->RunDonor(*impl(), deadline_ns);
}

void Executor::HelpingCaller::Notify() {
  StealingExecutor::Member& member = impl()->member;
  // First: the helper may be gone once it has been notified.
  member.wanted_lanes.fetch_or(StealingExecutor::kLeave,
                               std::memory_order_relaxed);
  member.sleeper.Raise(StealingExecutor::kNotified);
}

}  // namespace takt::exec
