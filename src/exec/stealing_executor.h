// The work-stealing executor. docs/executor.md has a picture of it.
//
// A job waits in one of four places: in the deque of the worker that made it
// ready, of which there is one for each lane; in a worker's mailbox, if another
// thread put it there or only some workers may run it; in the mailbox that all
// threads share; or as the next job of the thread that is about to run it,
// where no other thread sees it. A thread takes the most urgent job that it
// finds: its own first, then what is near, then what is far.
//
// Tickets: a job counts the places in which it waits and the threads that run
// it; each of them holds a ticket. A thread that takes a ticket claims ranges
// of tiles until all are claimed. If enough tiles are left for other threads,
// it first puts a second ticket where they find it; so a job is split only as
// far as threads come to help. The thread that drops the last ticket finishes
// the job.
//
// Invariants:
//   (1) While a job has unclaimed tiles, a ticket for it is in a deque or a
//       mailbox, or it is a next job, or a thread is claiming its tiles.
//   (2) A ticket for a job without unclaimed tiles never waits for another
//       job. A thread that leaves a job takes back its second ticket, which
//       lies on top of its deque: while a thread runs a job, nothing else is
//       pushed to the deque of that job's lane.
//   (3) shared_hints_ has every lane in which a job waits that any thread may
//       run. SharedState::own_hints has every lane in which a job waits that
//       this thread and some others may run. A lane is added once the job is
//       in its place. A lane is removed before a thread looks for its jobs
//       once more, and added again if the thread finds one.
//   (4) A job with a deadline, or one that can be raised, waits in a mailbox or
//       as a next job, never in a deque: mailboxes are sorted by deadline, and
//       a job can be taken out of them.
//   (5) active_ counts the threads that run or look for jobs, except a helping
//       caller that runs a small job of its own; searching_ counts those of
//       them that look. The thread that wakes another one counts it; a thread
//       that parks has subtracted itself.
//   (6) If a job waits and fewer than concurrency_ threads are active, then a
//       thread has been woken for it or is searching, or the job was left to a
//       helping caller that has not come to it yet. Where processes share
//       cores, that thread may wait for a core first
//       (stealing_executor_cores.cc).
//   (7) If a job waits that is more urgent than what runs on each worker that
//       may run it, and none of those workers stops soon, then a backup thread
//       has been woken for it (stealing_executor_backup.cc). Backup threads are
//       not counted in active_.
//
// Lock order: mutex_, then the locks of mailboxes and of idle_, which are
// leaves. No method of a job is called under a lock.
#ifndef TAKT_EXEC_STEALING_EXECUTOR_H_
#define TAKT_EXEC_STEALING_EXECUTOR_H_

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "exec/core_arbiter.h"
#include "exec/executor.h"
#include "exec/idle_list.h"
#include "exec/lane_counters.h"
#include "exec/lane_mask.h"
#include "exec/mailbox.h"
#include "exec/thread_state.h"
#include "exec/worker_slot.h"

namespace takt::exec {

class StealingExecutor final : public Executor {
 public:
  static absl::StatusOr<Ref<Executor>> Create(const Options& options);

  // Object's operators ignore alignments above that of malloc().
  static void* operator new(size_t bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
  }
  static void operator delete(void* block, std::align_val_t alignment) {
    ::operator delete(block, alignment);
  }

  void Shutdown() override;
  uint32_t backup_count() const override { return backup_count_; }
  uint32_t worker_count() const override {
    return started_count_.load(std::memory_order_relaxed);
  }
  uint32_t max_concurrency() const override;
  void Submit(Job* job) override;
  void Raise(Job* job, int32_t lane) override;
  void Flush() override;
  uint32_t RunReady(int64_t deadline_ns) override;
  void Trim() override;
  absl::StatusOr<const WorkerSet*> FindAffinity(const CpuSet& cpus) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  const WorkerSet* FindWorkers(const WorkerSet& workers) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool TakesFromBack() const override;
  bool IsSearching(uint32_t lane) const override {
    return searchers_.HasUpTo(lane);
  }
  void BeginSeries(uint32_t lane) override;
  void EndSeries() override;
  bool EndRange(const Job& job) override;
  ExecutorStatistics statistics() const override;
  Worker* current_worker() override;
  bool MustInterrupt(const JobTraits& traits) override;

 private:
  friend class Executor::HelpingCaller;
  class CallerScope;
  class LaneWatchScope;

  // Threads that one thread wakes for a job. Each of them wakes as many, so a
  // large job reaches 64 workers in six steps and no thread wakes them all.
  static constexpr uint32_t kWakeBranches = 2;
  // A woken thread that has not begun by then waits for a processor: from a
  // deep sleep of the processor it takes less.
  static constexpr int64_t kLateNs = 50'000;

  // The innermost state of this thread; null outside of all executors.
  // `constinit` and the model spare each access a call.
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local ThreadState* innermost_;
  // The Worker of a thread that is none.
  static Worker& ThisThreadsScratch();
  // The innermost state of this thread in this executor; may be null.
  ThreadState* StateHere() const {
    ThreadState* state = innermost_;
    while (state != nullptr && state->executor != this) state = state->outer;
    return state;
  }
  ThreadState* WorkingStateHere() const {
    ThreadState* const state = StateHere();
    return state != nullptr && state->is_working ? state : nullptr;
  }

  // ---- stealing_executor.cc: creation, affinities, statistics.
  explicit StealingExecutor(const Options& options);
  ~StealingExecutor() override;
  void MakeSlots(const Options& options);
  // Prepares the state of a worker, or of its backup thread.
  void InitState(ThreadState& state, Worker& worker, ThreadCounters& counters,
                 uint32_t index);
  void SortVictims(const Options& options);
  absl::Status StartWorkers(const Options& options);
  WorkerThread::Options ThreadOptions(const Options& options,
                                      const WorkerSlot& slot) const;
  // On the thread itself, detaches it instead and returns true: it then drops
  // a reference to the executor at its end.
  bool JoinOrDetach(WorkerThread& thread);
  // The error for CPUs where no worker is.
  absl::Status NoWorkerIsOn(const CpuSet& cpus) const;
  const WorkerSet* FindWorkerSet(WorkerSet set)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddCallerCounts(const ThreadCounters& counters)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- stealing_executor_submit.cc: makes jobs known and wakes threads.
  void SubmitWorking(ThreadState& state, Job* job);
  // Puts a job that this thread will not run next where others find it.
  void PushSurplus(ThreadState& state, Job* job);
  // Does so with this thread's next job, if there is one.
  void SpillNext(ThreadState& state) {
    if (state.next != nullptr) SpillNextJob(state);
  }
  void SpillNextJob(ThreadState& state);
  // Puts a job that only some workers may run into the mailbox of one of them.
  void PostLimited(Job* job);
  // Marks `lane` as having a job for this worker.
  static void AddOwnHint(WorkerSlot& slot, uint32_t lane);
  // Wakes up to `count` threads that may run jobs of `lane`, those near `from`
  // first. `allowed` and `from` may be null: all workers, and no thread.
  // Without `allowed`, it stops where concurrency_ threads are active, of which
  // `others` are about to be.
  void Wake(uint32_t count, uint32_t lane, const WorkerSet* allowed,
            const ThreadState* from, uint32_t others);
  // Wakes one, however many are active. False if no such thread sleeps.
  bool WakeOne(uint32_t lane, const WorkerSet* allowed,
               const ThreadState* from);
  void WakeAll();
  // Moves workers that do not begin to run off the processor of the thread that
  // woke them. Between ranges of tiles, on any thread.
  void MoveLate() {
    if (__builtin_expect(starting_.load(std::memory_order_relaxed) != 0, 0)) {
      MoveLateStarters();
    }
  }
  void MoveLateStarters();
  // By a thread on the processor `here`, under the lock of `idle_`.
  void AwaitStart(SharedState& idle, int here);
  // On a worker that was woken.
  void EndStart(ThreadState& state);
  // How many threads the rest of `job` is worth, besides the one that has it.
  uint32_t HelpersWorth(const Job& job) const;
  // How many threads a submission of `job` wakes: at least one.
  uint32_t ThreadsToWake(const Job& job) const;

  // ---- stealing_executor_backup.cc: what cannot wait for the end of a tile.
  void StartBackups(const Options& options);
  static void RunBackupThread(void* backup);
  void RunBackup(BackupThread& backup);
  // Wakes a backup thread for a job of `lane` that waits for `allowed` (null:
  // any thread) if it would wait for the end of a long, less urgent tile.
  void WakeBackupIfNeeded(uint32_t lane, const WorkerSet* allowed) {
    const LaneMask submitted = submitted_lanes_.Read(std::memory_order_relaxed);
    if (__builtin_expect(submitted.Intersects(LaneMask::Below(lane)), 0)) {
      WakeBackup(lane, allowed);
    }
  }
  void WakeBackup(uint32_t lane, const WorkerSet* allowed);
  // Whether the rest of a job that runs is worth the processor of something
  // less urgent.
  static bool IsWorthBackup(const Job& job);
  // Before a thread that runs no job sleeps, or looks for one while other
  // threads rely on it.
  static void BecomeRealTime(ThreadState& state) {
    if (!state.is_ordinary()) return;
    state.real_time->SetOrdinary(false);
    state.shared.running.store(RunningWork(), std::memory_order_relaxed);
  }
  // On an ordinary thread: does so if a job waits that is to run with a
  // real-time priority. The thread could take the job otherwise, and lose its
  // processor before it has that priority.
  void BecomeRealTimeIfNeeded(ThreadState& state);
  // Says that this thread runs `job` now; returns what it ran before. Runs
  // more urgent jobs first if `job` would hold them up. Does nothing if the
  // executor neither has backup threads nor real-time ones.
  RunningWork EnterJob(ThreadState& state, const Job& job) {
    return watches_jobs_ ? EnterWatchedJob(state, job) : RunningWork();
  }
  void LeaveJob(ThreadState& state, RunningWork outer) {
    if (watches_jobs_) LeaveWatchedJob(state, outer);
  }
  RunningWork EnterWatchedJob(ThreadState& state, const Job& job);
  void LeaveWatchedJob(ThreadState& state, RunningWork outer);
  void EnterLong(ThreadState& state, const Job& job, RunningWork running);

  // ---- stealing_executor_caller.cc: callers run jobs.
  // Works until the caller is notified or `deadline_ns` has passed: false then.
  bool RunHelpingCaller(HelpingCaller::Impl& caller, int64_t deadline_ns);
  // Runs jobs on this thread until it finds none.
  void RunHere();
  // Runs jobs until it finds none or `deadline_ns` has passed. Looks into all
  // places, whatever the hints say. Returns how many jobs it ran.
  uint32_t RunAvailable(ThreadState& state, int64_t deadline_ns);
  static void TakeNotification(ThreadState& state);

  // ---- stealing_executor_loop.cc: workers look for jobs, and threads sleep.
  static void RunWorkerThread(void* slot);
  void RunWorker(ThreadState& state);
  // Looks for a job for a while. True if there may be one.
  bool Search(ThreadState& state, FoundJob* found);
  // Its parts: looks again and again, for as long as that is worth it.
  bool SpinForWork(ThreadState& state, FoundJob* found);
  int64_t SpinBudgetNs(const ThreadState& state) const;
  // Sleeps until there may be a job, or `deadline_ns` has passed. The thread is
  // active before and after.
  void Park(ThreadState& state, bool is_surplus, int64_t deadline_ns);
  // Its parts: enters the list of idle threads, sleeps, and leaves the list.
  void Announce(ThreadState& state);
  void Sleep(ThreadState& state, int64_t deadline_ns);
  void Return(ThreadState& state);
  // Whether more threads are active than may be, and this worker has to sleep.
  bool IsSurplus(ThreadState& state);
  // Whether another active thread was last seen on this thread's processor.
  // False unless the threads fill the processors.
  bool SharesCpu(ThreadState& state);
  // Whether it shares its processor, and another thread would find a free one:
  // the kernel leaves both there for some ms.
  bool MustMove(ThreadState& state) {
    return __builtin_expect(cpu_load_.crowding() != 0, 0) && IsCrowded(state);
  }
  bool IsCrowded(ThreadState& state);
  // Leaves this thread's next job to another thread, and sleeps. False if there
  // is none that another thread may run.
  bool Move(ThreadState& state, int64_t deadline_ns);

  // ---- stealing_executor_cores.cc: cores that processes share.
  absl::Status JoinCores(const Options& options);
  // Whether a thread that runs a job of `lane` must give its core to another
  // process.
  bool MustYield(uint32_t lane) {
    return cores_ != nullptr && MustYieldCore(lane);
  }
  // The same for a thread that is about to look for a job.
  bool MustYield(const ThreadState& state) {
    return cores_ != nullptr && MustYieldCore(LaneFor(state));
  }
  // Wakes threads that were held back, if there are cores for them now.
  bool MustYieldCore(uint32_t lane);
  // True if `active` threads are as many as may run a job of `lane`. Then it is
  // noted that others are held back.
  bool HoldsBack(uint32_t lane, uint32_t active);
  // Counts this thread as not active. False if there is a core for it after
  // all.
  bool LeaveCore();
  // The most urgent lane in which there may be a job for this thread.
  uint32_t LaneFor(const ThreadState& state) const;
  // Sleeps until this thread may have a core again, something is raised, or
  // `deadline_ns` has passed. The thread is active before and after.
  void YieldCore(ThreadState& state, int64_t deadline_ns);
  // The claims of a job that is submitted, was raised, and is done.
  void ClaimCores(Job& job) {
    if (cores_ != nullptr) ClaimCoresFor(job);
  }
  void ClaimCoresFor(Job& job);
  // The claim of a caller's thread, from its call to the end, but for sleeps.
  void ClaimCore(const ThreadState& state) {
    if (state.core_lane > 0) cores_->Add(state.core_lane, 1, kInfiniteFuture);
  }
  void DropCore(const ThreadState& state) {
    if (state.core_lane > 0) cores_->Remove(state.core_lane, 1);
  }
  void MoveClaim(Job& job);
  // The claim of a job whose tiles are done, which ends. A closure only begins
  // then: its claim is returned, for EndClaim() after it.
  uint32_t EndTiles(Job& job);
  void EndClaim(uint32_t claim) {
    if (claim != 0) cores_->Remove(claim >> 16, claim & UINT16_MAX);
  }
  // Whether a thread that works beside its purpose returns to that now.
  static bool MustLeave(const ThreadState& state) {
    return state.is_notified() ||
           (state.leave_ns != kInfiniteFuture && NowNs() >= state.leave_ns);
  }
  // Fires a timer that its own thread has missed. A caller's thread fires none,
  // because it must return to its call.
  bool FireOverdueTimer(const ThreadState& state) {
    return state.slot() != nullptr && timers_ != nullptr &&
           timers_->FireOverdue();
  }
  void TrimIfAsked(WorkerSlot& slot);
  // Records an event of this thread, now.
  void RecordHere(EventKind kind, int64_t value);

  // ---- stealing_executor_run.cc: runs the jobs that were found.
  // Runs this thread's next jobs as long as each runs on one thread and no
  // other job could come before it: what Find() and RunJob() do, in less time.
  void RunChain(ThreadState& state);
  // Runs the job that a helping caller kept to itself, if no other job could
  // come before it.
  bool RunKept(ThreadState& state);
  void RunJob(ThreadState& state, FoundJob found);
  // True if this thread has dropped the last ticket.
  bool RunShared(ThreadState& state, FoundJob found);
  // Its end: this thread leaves the job. `has_second_ticket`: as of Spread().
  bool DropTickets(ThreadState& state, Job& job, bool has_second_ticket);
  void RunRange(ThreadState& state, Job& job, uint32_t begin, uint32_t end);
  // The same for tiles that have been stopped by something more urgent.
  void RunRest(ThreadState& state, Job& job, uint32_t begin, uint32_t end);
  // `job` has stopped for something more urgent.
  void CountPreemption(ThreadState& state, const Job& job);
  // Runs the jobs that are more urgent than `job`, which has stopped for them.
  void RunMoreUrgent(ThreadState& state, const Job& job);
  // Whether this thread has interrupted a job for `job` that has become at
  // least as urgent since.
  static bool HoldsUpRaised(const ThreadState& state, const Job& job);
  void FinishJob(ThreadState& state, Job& job);
  // Claims at most `range_max` tiles, from the last one back if `from_back`.
  // False if all are claimed.
  bool Claim(Job& job, uint32_t range_max, bool from_back, uint32_t* begin,
             uint32_t* end) const;
  // Puts a second ticket for a job that this thread runs where others find it,
  // and wakes some. True if the ticket is in this thread's deque.
  bool Spread(ThreadState& state, Job& job, bool is_listed);
  // Puts a second ticket for a job that this thread runs into the mailbox that
  // all share. Returns how many tickets the caller drops besides its own.
  uint32_t PostSecondTicket(Job& job);
  // Whether a job of the same lane that is due earlier waits for all threads.
  bool IsOvertaken(const Job& job) const {
    return !job.is_raised() &&
           shared_mailbox_.EarliestNs(job.lane) < job.deadline_ns;
  }

  // ---- stealing_executor_find.cc: finds jobs.
  // The most urgent job for this thread. `clear`: removes hints, of (3), for
  // which there is no job.
  FoundJob Find(ThreadState& state, bool clear);
  // Looks into the places of other threads. See `clear` above.
  FoundJob FindHinted(ThreadState& state, LaneMask lanes, bool clear);
  // Looks into this thread's deque of `lane` and its mailboxes.
  FoundJob FindOwn(ThreadState& state, uint32_t lane, bool mail_first);
  FoundJob Steal(ThreadState& state, LaneMask lanes);
  // Whether a job of `lanes` waits anywhere that this thread may run.
  bool HasWork(const ThreadState& state, LaneMask lanes);
  // As which worker this thread looks into mailboxes.
  uint32_t MailboxIndex(const ThreadState& state) const;
  // The earliest deadline in the mailboxes that this thread looks into first.
  int64_t EarliestMailNs(const ThreadState& state, uint32_t lane) const;
  // The lanes of those mailboxes.
  LaneMask MailLanes(const ThreadState& state) const {
    const LaneMask shared = shared_mailbox_.lanes();
    return state.slot() != nullptr ? shared | state.slot()->mailbox.lanes()
                                   : shared;
  }
  // Lanes in which jobs wait that this thread may run, as the hints say.
  LaneMask HintedLanes(const ThreadState& state,
                       std::memory_order order) const {
    return shared_hints_.Read(order) | state.shared.own_hints.Read(order);
  }
  template <typename Visit>
  void ForEachVictim(const ThreadState& state, Visit visit) const;

  const uint32_t concurrency_;
  // Threads on CPUs from here on take tiles from the last one back; -1: none
  // do. Neighboring CPUs share more than others.
  int32_t back_cpu_ = -1;
  // As many threads may be active as there are processors. Then a surplus
  // worker sleeps only if another thread is on its processor: the kernel would
  // leave that processor idle for some ms, and two threads on another one.
  bool fills_cpus_ = false;
  uint32_t cpu_count_ = 0;  // Usable processors; 0 unless fills_cpus_.
  CpuLoad cpu_load_;        // Of active threads; used if fills_cpus_.
  const int64_t spin_ns_;
  const int64_t linger_ns_;
  const int64_t patience_ns_;  // The lingering that the options ask for.
  // A helping caller that searches keeps a worker from doing so, if as many
  // workers exist as may be active.
  const int64_t caller_spin_max_ns_;
  const bool is_placed_;                  // By its options.
  std::unique_ptr<CoreArbiter> cores_;    // Fixed once created. May be null.
  // Threads sleep that would run if there were a core for them.
  std::atomic<bool> holds_back_{false};
  std::shared_ptr<TimerService> timers_;  // Fired by workers. May be null.
  const bool watches_jobs_;               // Threads write SharedState::running.
  const CallerMemory caller_memory_;
  const pid_t process_ = getpid();                    // That made it.
  std::vector<std::unique_ptr<WorkerSlot>> workers_;  // Fixed once created.
  bool is_flat_ = true;                               // One cluster.
  // Fewer than workers_ if threads failed to start: the rest stay empty.
  std::atomic<uint32_t> started_count_{0};
  uint32_t backup_count_ = 0;  // Of the first workers.
  // Lanes in which there have been jobs, if there are backup threads.
  AtomicLaneMask submitted_lanes_;
  LaneCounters long_callers_;  // Helping callers in a long tile of the lane.

  Mailbox shared_mailbox_;
  IdleList<> idle_;  // The SharedState of threads that sleep, or are about to.
  alignas(64) AtomicLaneMask shared_hints_;
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint32_t> active_{0};
  std::atomic<uint32_t> searching_{0};
  // All threads that search, by the least urgent lane of their jobs.
  LaneCounters searchers_;
  std::atomic<uint32_t> series_{0};    // Begun, and not ended.
  std::atomic<uint32_t> starting_{0};  // Workers whose start is awaited.
  std::atomic<uint32_t> trim_count_{0};

  mutable Mutex mutex_;
  ExecutorStatistics::Counts caller_counts_ ABSL_GUARDED_BY(mutex_);
  bool is_pinned_ ABSL_GUARDED_BY(mutex_) = false;
  // Each set of workers that was asked for, once.
  std::vector<std::unique_ptr<WorkerSet>> worker_sets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_STEALING_EXECUTOR_H_
