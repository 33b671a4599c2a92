// The work-stealing executor.
//
// Where jobs wait: in the deque of the worker that made them ready, one a
// lane; in a worker's mailbox, put there by others or for its affinity; in the
// mailbox that all share; or as the next job of the thread that is about to
// run it, which nobody else sees. A thread takes the most urgent job that it
// finds, its own first, then what is near, then what is far.
//
// Tickets: a job is reached through tickets: its places in deques and
// mailboxes, and the threads that are in it. A thread that takes a ticket
// claims ranges of tiles until there are none; if there are enough for others
// it first puts a second ticket where they find it, so work splits only as far
// as somebody comes for it. Whoever drops the last ticket finishes the job.
//
// Invariants:
//   (1) Of a job with unclaimed tiles there is a ticket in some deque or
//       mailbox, or as next job, or a thread is claiming.
//   (2) A ticket of a job without unclaimed tiles is in no place where it
//       would have to wait for another job: a thread that comes out of a job
//       takes its second ticket back, which lies on top of its deque, since
//       nothing is pushed to the deques of lanes that a thread is in.
//   (3) urgent_lanes_ has the bit of every lane in which something waits that
//       any thread may take, and a worker's wanted_lanes that of what waits
//       for it and some others. Bits are set after the job is there; cleared
//       before it is looked for in vain.
//   (4) What has a deadline waits as a next job or in a mailbox, not in a
//       deque: mailboxes keep the order.
//   (5) active_ counts the threads that run or look for jobs, but for a helper
//       in the one small job that it kept to itself; searching_ those of them
//       that look. Whoever wakes a thread counts it; a thread that parks has
//       discounted itself.
//   (6) If something waits and fewer than concurrency_ threads are active, a
//       thread has been woken for it or is searching, or it has been left to a
//       helper that has yet to come.
//   (7) If something more urgent waits than what each worker that may run it
//       is in, and none of them comes soon, a backup_threads has been woken for
//       it (stealing_executor_backup.cc). Reliefs are not counted in active_.
//
// Lock order: mutex_, then the locks of mailboxes and of idle_, which are
// leaves; no job's method is called under any.
#ifndef TAKT_EXEC_STEALING_EXECUTOR_H_
#define TAKT_EXEC_STEALING_EXECUTOR_H_

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/sleeper.h"
#include "exec/executor.h"
#include "exec/idle_list.h"
#include "exec/mailbox.h"
#include "exec/work_deque.h"

namespace takt::exec {

class StealingExecutor final : public Executor {
 public:
  static absl::StatusOr<Ref<Executor>> Create(const Options& options);

  // Object's do not know of lines of the cache.
  static void* operator new(size_t bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
  }
  static void operator delete(void* block, std::align_val_t alignment) {
    ::operator delete(block, alignment);
  }

  void Shutdown() override;
  uint32_t worker_count() const override {
    return started_count_.load(std::memory_order_relaxed);
  }
  uint32_t max_concurrency() const override;
  void Submit(Job* job) override;
  void Flush() override;
  uint32_t RunReady(int64_t deadline_ns) override;
  void Trim() override;
  absl::StatusOr<const WorkerSet*> FindAffinity(const CpuSet& cpus) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  const WorkerSet* FindWorkers(const WorkerSet& workers) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  ExecutorStatistics statistics() const override;
  Worker* current_worker() override;

 private:
  friend class Executor::HelpingCaller;
  static constexpr uint32_t kWork = 1;  // Sleeper flags.
  static constexpr uint32_t kNotified = 2;
  static constexpr uint32_t kAllLanes = (1u << kLaneCount) - 1;
  // Among a helper's wanted_lanes: it has been notified, so what it runs stops
  // as if something more urgent waited.
  static constexpr uint32_t kLeave = 1u << kLaneCount;
  static constexpr size_t kDequeCapacity = 128;
  using Deque = WorkDeque<Job, kDequeCapacity>;

  // A count that one thread adds to and others read.
  class Counter {
   public:
    void Add(uint64_t n) {
      value_.store(value_.load(std::memory_order_relaxed) + n,
                   std::memory_order_relaxed);
    }
    uint64_t value() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> value_{0};
  };
  struct Counters {
    Counter jobs, tiles, ranges, near_steals, far_steals, preemptions, parks,
        wakes;
    ExecutorStatistics::Counts Read() const;
  };

  class ScopedLaneWatch;
  // What only workers have.
  struct Seat;
  // A thread that was given a real-time priority. It leaves that for what is
  // not urgent: kernels that run for long at such a priority would keep all
  // else from its processor, and the system stops all real-time threads, urgent
  // or not, once they have taken too much of the time.
  struct RealTime {
    const WorkerThread* thread = nullptr;
    bool is_left = false;
  };
  // A thread while it works, or may: a worker, a helper, a thread in RunHere().
  struct Member : IdleNode {
    StealingExecutor* executor = nullptr;
    Member* outer = nullptr;  // Of the same thread.
    Seat* seat = nullptr;     // Null: not a worker.
    Worker* worker = nullptr;
    Sleeper sleeper;
    int last_cpu = -1;  // Where it was when it went to sleep.
    // Lanes in which something waits for this worker.
    std::atomic<uint32_t> wanted_lanes{0};
    // What the thread is in, if there are backup_threads: RunningAs(), or 0.
    std::atomic<uint32_t> running{0};
    Counters* counters = nullptr;
    // The rest belongs to the thread.
    bool is_working = false;
    bool is_donor = false;
    bool is_finishing = false;      // In the Finish() of a job.
    RealTime* real_time = nullptr;  // Null: the thread has no such priority.
    int64_t leave_ns = kInfiniteFuture;  // When a thread in RunReady() leaves.
    // Lanes below are not for this thread now: the lane of the job that it has
    // interrupted, plus one; or what its helper asked for.
    uint32_t lane_min = 0;
    // Whose jobs it may run of those that are kept for some workers.
    uint32_t place = Mailbox::kNoWorker;
    uint32_t take_count = 0;
    uint32_t first_victim = 0;
    Job* next = nullptr;
    int64_t backlog_ns = 0;  // About what waits in the deques.
  };
  // A second thread in a worker's place, which sleeps but for what is more
  // urgent than the tile that the worker can't leave.
  struct BackupThread {
    Seat* seat = nullptr;
    bool holds_executor = false;  // As a seat's.
    RealTime real_time;
    Worker worker;
    Member member;
    Counters counters;
    WorkerThread thread;
    std::string trace_name;
    std::atomic<bool> is_asleep{false};            // Or about to be.
    std::atomic<uint32_t> called_for{kLaneCount};  // The least urgent lane.
  };
  struct Seat {
    uint32_t index = 0;
    CpuSet placement;
    uint32_t cluster = 0;
    std::vector<uint32_t> victims;  // The other workers, nearest first.
    bool holds_executor = false;    // Detached: drops a reference at its end.
    RealTime real_time;
    uint32_t trim_seen = 0;
    std::atomic<size_t> local_bytes{0};  // Of worker, for others to read.
    Worker worker;
    Member member;
    Counters counters;
    WorkerThread thread;
    std::string trace_name;
    std::unique_ptr<BackupThread> backup_threads;  // Null: it has none.

    // Lanes whose deque may hold something. Written by the worker.
    alignas(64) std::atomic<uint32_t> deque_lanes{0};
    Deque deques[kLaneCount];
    alignas(64) Mailbox mailbox;

    uint32_t lanes() const {
      return deque_lanes.load(std::memory_order_seq_cst) | mailbox.lanes();
    }
  };
  // A job with a ticket. `is_listed`: it is in a mailbox too, where others
  // find it.
  struct Found {
    Job* job = nullptr;
    bool is_listed = false;
  };

  static Member*& ThisThread();
  static Worker& ThisThreadsScratch();
  // The innermost part of this executor on this thread.
  Member* MemberHere() const;
  Member* WorkingMemberHere() const;
  bool IsWorking() const { return WorkingMemberHere() != nullptr; }

  explicit StealingExecutor(const Options& options);
  ~StealingExecutor() override;
  void PlaceWorkers(const Options& options);
  absl::Status StartWorkers(const Options& options);
  WorkerThread::Options ThreadOptions(const Options& options,
                                      const Seat& seat) const;
  // On the executor's own thread: joins it otherwise, and returns false.
  bool DetachOrJoin(WorkerThread& thread);

  // ---- stealing_executor.cc: making jobs known.
  void SubmitWorking(Member& member, Job* job);
  // Puts a job that this thread will not take next where others find it.
  void PushSurplus(Member& member, Job* job);
  // Puts the private next job, if there is one, where others find it.
  void SpillNext(Member& member);
  void PostLimited(Job* job);
  // Sets a bit of (3), once the job is there.
  void SetUrgent(uint32_t lane);
  // Wakes up to `count` threads that may run jobs of `lane` kept for `allowed`
  // (null: for nobody), near `from` (or null) first: as far as so many may be
  // active besides `others`, if the jobs are kept for nobody.
  void Wake(uint32_t count, uint32_t lane, const WorkerSet* allowed,
            const Member* from, uint32_t others);
  // One of them, however many are active. False if none sleeps.
  bool WakeOne(uint32_t lane, const WorkerSet* allowed, const Member* from);
  // Has it be known that something of `lane` waits for this worker.
  static void Want(Seat& seat, uint32_t lane);
  // Has a helper that takes the flag leave no more.
  static void TakeNotified(Member& member);
  // Threads that what is left of `job` is worth, besides the one that has it.
  uint32_t HelpersWorth(const Job& job) const;
  // Whether what is left of one that runs is worth a processor taken from
  // something that is less urgent.
  bool IsWorthBackup(const Job& job) const;

  // ---- stealing_executor_backup.cc: what can't wait for a tile's end.
  void StartBackups(const Options& options);
  static void RunBackupThread(void* backup_threads);
  void RunBackup(BackupThread& backup_threads);
  // Has a job of `lane`, which waits for `allowed` (null: for anyone), run at
  // once if it would wait for the end of a long tile of something less urgent.
  void WakeBackupIfNeeded(uint32_t lane, const WorkerSet* allowed) {
    const uint32_t used = used_lanes_.load(std::memory_order_relaxed);
    if (__builtin_expect((used & ((1u << lane) - 1)) != 0, 0)) {
      WakeBackup(lane, allowed);
    }
  }
  void WakeBackup(uint32_t lane, const WorkerSet* allowed);
  // Says of a thread of real-time priority whether it keeps that now.
  static void SetOrdinary(RealTime& state, bool is_ordinary) {
    if (state.is_left == is_ordinary) return;
    state.is_left = is_ordinary;
    state.thread->SetRealTime(!is_ordinary);
  }
  static bool IsOrdinary(const Member& member) {
    return member.real_time != nullptr && member.real_time->is_left;
  }
  // Before a thread that is in no job sleeps, or looks for one where it is
  // relied upon.
  static void BecomeRealTime(Member& member) {
    if (!IsOrdinary(member)) return;
    SetOrdinary(*member.real_time, false);
    member.running.store(0, std::memory_order_relaxed);
  }
  // The same if something waits that is to run with a real-time priority. Else
  // the thread might take it, and lose its processor before it has that.
  void BecomeRealTimeIfNeeded(Member& member) {
    if (__builtin_expect(!IsOrdinary(member), 1)) return;
    const uint32_t waiting =
        urgent_lanes_.load(std::memory_order_relaxed) |
        member.wanted_lanes.load(std::memory_order_relaxed) | MailLanes(member);
    if ((waiting & kAllLanes) >> kNormalLane != 0) BecomeRealTime(member);
  }
  // What has a real-time thread be an ordinary one.
  static bool IsForOrdinary(uint32_t lane) { return lane < kNormalLane; }
  // Of Member::running: the lane and one, and whether the tiles are long.
  static constexpr int64_t kLongTileNs = 50'000;
  static uint32_t RunningAs(const Job& job) {
    const int64_t stop_ns =
        job.grain_ns > 0 ? job.grain_ns : job.expected_tile_ns;
    const bool is_long = stop_ns <= 0 || stop_ns >= kLongTileNs;
    return (job.lane + 1u) << 1 | (is_long ? 1 : 0);
  }
  // What an ordinary thread that is in no job counts as: it may be a while
  // before the system lets it look for one.
  static constexpr uint32_t kRunningOrdinary = kNormalLane << 1 | 1;
  static bool IsLong(uint32_t running) { return (running & 1) != 0; }
  static uint32_t LanesUpTo(uint32_t running) { return running >> 1; }
  // Says what this thread is in now; returns what it was in. Runs what is more
  // urgent first, if `job` would hold it up.
  uint32_t EnterJob(Member& member, const Job& job) {
    if (!watches_jobs_) return 0;
    const uint32_t outer = member.running.load(std::memory_order_relaxed);
    const uint32_t now = RunningAs(job);
    if (member.real_time != nullptr) {
      if (IsForOrdinary(job.lane)) {
        // Others may have its processor before its tile ends.
        EnterLong(member, job, now | 1);
        SetOrdinary(*member.real_time, true);
        return outer;
      }
      SetOrdinary(*member.real_time, false);
    }
    if (IsLong(now)) {
      EnterLong(member, job, now);
    } else {
      member.running.store(now, std::memory_order_relaxed);
    }
    return outer;
  }
  void LeaveJob(Member& member, uint32_t outer) {
    if (!watches_jobs_) return;
    const uint32_t now = member.running.load(std::memory_order_relaxed);
    if (member.is_donor && IsLong(now)) CountDonor(now, -1);
    if (member.real_time != nullptr) {
      // A thread that submits a job more urgent than the one to which this
      // thread returns sees that, or this thread finds the job before it
      // becomes an ordinary one.
      const bool is_idle = outer == 0 && member.real_time->is_left;
      member.running.store(is_idle ? kRunningOrdinary : outer,
                           std::memory_order_seq_cst);
      return;
    }
    member.running.store(outer, std::memory_order_relaxed);
  }
  void EnterLong(Member& member, const Job& job, uint32_t running);
  void CountDonor(uint32_t running, int change);

  // ---- stealing_executor_run.cc: running them.
  static void RunThread(void* seat);
  void RunWorker(Member& member);
  bool RunDonor(HelpingCaller::Impl& helper, int64_t deadline_ns);
  // Whether a thread that works beside its purpose is to go back to that.
  static bool HasToLeave(const Member& member) {
    return (member.sleeper.raised() & kNotified) != 0 ||
           (member.leave_ns != kInfiniteFuture && NowNs() >= member.leave_ns);
  }
  // Runs jobs on this thread until there are none.
  void RunHere();

  // Runs this thread's next jobs as long as each is of one thread, and nothing
  // else could come before it: what Find() and RunJob() do, in less time.
  void RunChain(Member& member);
  // Runs the job that a helper kept to itself, if nothing could come before it.
  bool RunKept(Member& member);
  void RunJob(Member& member, Found found);
  // True if this thread has dropped the last ticket.
  bool RunShared(Member& member, Found found);
  void RunRange(Member& member, Job& job, uint32_t begin, uint32_t end);
  void RunRest(Member& member, Job& job, uint32_t begin, uint32_t end);
  // Runs what is more urgent than `job`, which has stopped for it.
  void GiveWay(Member& member, const Job& job);
  void FinishJob(Member& member, Job& job);
  bool Claim(Job& job, uint32_t range_max, bool is_back, uint32_t* begin,
             uint32_t* end) const;
  // Has others find what is left of a job this thread is in. True if there is
  // a second ticket in this thread's deque now.
  bool Spread(Member& member, Job& job, bool is_listed);
  // Has what is left of a job that this thread leaves found by others. Returns
  // how many tickets the caller has to drop besides its own.
  uint32_t GiveBack(Job& job);
  bool MakesWay(const Member& member) const;
  // Whether something as urgent as `job` that is due earlier waits for anyone.
  bool IsOvertaken(const Job& job) const {
    return shared_mailbox_.EarliestNs(job.lane) < job.deadline_ns;
  }
  const WorkerSet* FindWorkerSet(WorkerSet set)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Looks for work for a while. True if there may be something.
  bool Search(Member& member, Found* found);
  // Parks this thread, which is active, until it is woken; active again then.
  void Park(Member& member, bool makes_way, int64_t deadline_ns);
  void TrimIfAsked(Seat& seat);
  // An event of this thread, now.
  void RecordHere(EventKind kind, int64_t value);
  void AddDonorCounts(const Counters& counters) ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- stealing_executor_find.cc: finding them.
  // The most urgent job for this thread. `clear`: let bits of (3) go for which
  // there is nothing.
  Found Find(Member& member, bool clear);
  Found FindHinted(Member& member, uint32_t lanes, bool clear);
  Found FindOwn(Member& member, uint32_t lane, bool mail_first);
  // The earliest deadline in this thread's mailboxes.
  int64_t EarliestMailNs(const Member& member, uint32_t lane) const;
  Found Steal(Member& member, uint32_t lanes);
  // Whether there is something in `lanes` that this thread may take.
  bool HasWork(const Member& member, uint32_t lanes);
  uint32_t MailWorker(const Member& member) const;
  template <typename Visit>
  void ForEachVictim(const Member& member, Visit visit) const;
  // Whether something new lies where this thread looks first, or it is called.
  bool HasMail(const Member& member) const;
  // Lanes of the mailboxes that it looks into first.
  uint32_t MailLanes(const Member& member) const;

  const uint32_t concurrency_;
  // Threads on CPUs from here on claim tiles from the last one back; -1: none.
  // So what a thread reads is more often what it wrote in the dispatch before,
  // and still in its cache. CPUs that are neighbours share more than others.
  int32_t back_cpu_ = -1;
  const int64_t spin_ns_;
  const int64_t linger_ns_;
  const int64_t patience_ns_;  // The lingering that was asked for.
  // A helper that goes on looking keeps a worker from doing so, if there are as
  // many of them as may be active.
  const int64_t donor_spin_max_ns_;
  const bool is_placed_;                        // By its options.
  std::shared_ptr<TimerService> timers_;        // The workers'. May be null.
  const bool watches_jobs_;                     // Members say what they are in.
  std::vector<std::unique_ptr<Seat>> workers_;  // Fixed once created.
  bool is_flat_ = true;                         // One cluster.
  // Fewer if threads failed to start: the seats behind stay empty.
  std::atomic<uint32_t> started_count_{0};
  bool has_backups_ = false;
  // Lanes in which there have been jobs, if there are backup_threads.
  std::atomic<uint32_t> used_lanes_{0};
  // For each lane, in eight bits, the helping_callers that are in a long tile
  // of it. More than there is room for seem to be of the next lane.
  std::atomic<uint64_t> long_donors_{0};

  Mailbox shared_mailbox_;
  IdleList<> idle_;
  alignas(64) std::atomic<uint32_t> urgent_lanes_{0};
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint32_t> active_{0};
  std::atomic<uint32_t> searching_{0};
  std::atomic<uint32_t> trim_count_{0};

  mutable Mutex mutex_;
  ExecutorStatistics::Counts donor_counts_ ABSL_GUARDED_BY(mutex_);
  bool is_pinned_ ABSL_GUARDED_BY(mutex_) = false;
  struct Affinity {
    CpuSet cpus;
    const WorkerSet* set;  // One of worker_sets_; null: all of them.
  };
  std::vector<Affinity> affinities_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<WorkerSet>> worker_sets_ ABSL_GUARDED_BY(mutex_);
};

struct Executor::HelpingCaller::Impl {
  StealingExecutor::Member member;
  StealingExecutor::Counters counters;
  uint32_t outer_index = 0;  // Of the thread's Worker.
  uint32_t outer_lane_min = 0;
  uint32_t lane = 0;
  bool has_worked = false;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_STEALING_EXECUTOR_H_
