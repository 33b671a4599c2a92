// What the work-stealing executor knows of a thread that runs its jobs: a
// worker, a worker's backup thread, or a caller that helps.
//
// A ThreadState belongs to its thread. Other threads use only the SharedState
// in it, which they reach through the list of idle threads, through the slot
// of a worker, or by HelpingCaller::Notify().
#ifndef TAKT_EXEC_THREAD_STATE_H_
#define TAKT_EXEC_THREAD_STATE_H_

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/sleeper.h"
#include "exec/cpu_load.h"
#include "exec/executor.h"
#include "exec/idle_list.h"
#include "exec/job.h"
#include "exec/lane_mask.h"
#include "exec/mailbox.h"
#include "exec/worker_thread.h"

namespace takt::exec {

class StealingExecutor;
struct WorkerSlot;

// A count that one thread adds to and others read.
class SharedCounter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct ThreadCounters {
  SharedCounter jobs, tiles, ranges, near_steals, far_steals, preemptions,
      parks, wakes;

  ExecutorStatistics::Counts Read() const {
    return {jobs.value(),        tiles.value(),      ranges.value(),
            near_steals.value(), far_steals.value(), preemptions.value(),
            parks.value(),       wakes.value()};
  }
};

// What a thread runs, in one word: nothing, or a job of some lane, with long
// tiles or short ones.
class RunningWork {
 public:
  // A tile above this length is long: an urgent job does not wait for its end,
  // but wakes a backup thread. A wake-up and two switches of threads cost some
  // 10 us, so a backup thread gains nothing beside shorter tiles.
  static constexpr int64_t kLongTileNs = 50'000;

  constexpr RunningWork() = default;  // Nothing.
  static RunningWork Of(const Job& job) {
    const int64_t stop_ns =
        job.grain_ns > 0 ? job.grain_ns : job.expected_tile_ns;
    // Without a measurement, a tile may last for any time.
    const bool is_long = stop_ns <= 0 || stop_ns >= kLongTileNs;
    return RunningWork((job.lane_now() + 1u) << 1 | (is_long ? 1 : 0));
  }
  // A thread of a real-time priority that is ordinary for now, and runs
  // nothing. The system may let it wait before it looks for a job, so it counts
  // as one in a long tile of the highest lane that runs on ordinary threads.
  static constexpr RunningWork IdleAsOrdinary() {
    return RunningWork(kNormalLane << 1 | 1);
  }

  constexpr bool is_nothing() const { return word_ == 0; }
  constexpr bool is_long() const { return (word_ & 1) != 0; }
  // The least urgent lane whose jobs are more urgent than this; for nothing,
  // the lowest one.
  constexpr uint32_t lane_above() const { return word_ >> 1; }
  // The lane of the job; there is one.
  uint32_t lane() const {
    TAKT_DCHECK(!is_nothing());
    return lane_above() - 1;
  }
  constexpr RunningWork WithLongTiles() const { return RunningWork(word_ | 1); }

 private:
  explicit constexpr RunningWork(uint32_t word) : word_(word) {}

  uint32_t word_ = 0;  // The lane plus one, above the bit for long tiles.
};

// The scheduling class of a thread that was given a real-time priority. The
// thread becomes an ordinary one for jobs that are not urgent: at a real-time
// priority, long kernels would keep everything else from its processor, and the
// system stops all real-time threads, urgent or not, once they have taken too
// much of the time. Belongs to the thread.
class RealTimeThread {
 public:
  void Init(WorkerThread& thread) { thread_ = &thread; }
  bool is_ordinary() const { return is_ordinary_; }
  // One system call, if that changes anything.
  void SetOrdinary(bool is_ordinary) {
    TAKT_DCHECK(thread_ != nullptr);
    if (is_ordinary_ == is_ordinary) return;
    is_ordinary_ = is_ordinary;
    thread_->SetRealTime(!is_ordinary);
  }
  // Jobs of this lane make the thread an ordinary one.
  static constexpr bool IsForOrdinary(uint32_t lane) {
    return lane < kNormalLane;
  }

 private:
  WorkerThread* thread_ = nullptr;
  bool is_ordinary_ = false;
};

// The part of a ThreadState that other threads may use.
struct SharedState : IdleNode {
  // Flags of `sleeper`: there may be a job; and what a helping caller waits
  // for has come.
  static constexpr uint32_t kWork = 1;
  static constexpr uint32_t kNotified = 2;

  Sleeper sleeper;  // Others raise flags; the thread takes them.
  // Lanes in which a job waits for this thread and some others, and a request
  // to leave. Others add to it; the thread removes.
  AtomicLaneMask own_hints;
  // What the thread runs, if the executor watches that. Written by the thread.
  std::atomic<RunningWork> running{};

  // Whether a worker that was woken has begun to run. One that has not for long
  // may wait for the processor of the thread that woke it.
  enum class Start : uint8_t { kDone, kAwaited, kMoving, kMoved };
  std::atomic<Start> start{Start::kDone};
  std::atomic<int64_t> woken_ns{0};  // When,
  std::atomic<int> woken_on{-1};     // and by a thread on which processor.

  // Set before other threads can see this state, and fixed from then on.
  WorkerSlot* slot = nullptr;  // Null: the thread is not a worker.
  bool is_helping_caller = false;
  bool may_be_late = false;  // It is a worker whose start is awaited.

  // Written by the thread before it enters the list of idle threads; read by
  // others while it is there, under the list's lock.
  int last_cpu = -1;           // Where it ran.
  uint32_t idle_lane_min = 0;  // It takes no jobs of lower lanes.
};

// A job that its thread has interrupted, on the stack of the thread.
struct InterruptedJob {
  const Job* job;
  InterruptedJob* outer;
};

struct ThreadState {
  SharedState shared;

  // Set as the state is made.
  StealingExecutor* executor = nullptr;
  ThreadState* outer = nullptr;  // The state that this thread had before.
  Worker* worker = nullptr;
  ThreadCounters* counters = nullptr;
  RealTimeThread* real_time = nullptr;  // Null: it has no such priority.
  // Among the jobs that are kept for some workers, it may run this one's.
  uint32_t worker_index = Mailbox::kNoWorker;
  int64_t leave_ns = kInfiniteFuture;  // When a caller's thread leaves.

  bool is_working = false;    // It runs jobs, or looks for some.
  bool is_finishing = false;  // It is in the Finish() of a job.
  bool may_move = false;      // It may leave its job to a thread elsewhere.
  // A synchronous call asks other processes for a core while it does not
  // sleep, in its lane; 0: it does not.
  uint8_t core_lane = 0;
  // Jobs of lower lanes are not for this thread now: it has interrupted a job,
  // or its caller waits for something more urgent.
  uint32_t lane_min = 0;
  InterruptedJob* interrupted = nullptr;  // The innermost one.
  Job* next = nullptr;                    // Only this thread sees it.
  int32_t seen_on = CpuLoad::kNowhere;    // The processor, while it works.
  int64_t backlog_ns = 0;     // About how long the jobs in its deques take.
  uint32_t find_count = 0;    // Calls of Find().
  uint32_t first_victim = 0;  // Where a thread without a slot begins to steal.

  WorkerSlot* slot() const { return shared.slot; }
  bool is_helping_caller() const { return shared.is_helping_caller; }
  LaneMask lanes() const { return LaneMask::AtLeast(lane_min); }
  bool is_notified() const {
    return (shared.sleeper.raised() & SharedState::kNotified) != 0;
  }
  bool is_ordinary() const {
    return real_time != nullptr && real_time->is_ordinary();
  }
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_THREAD_STATE_H_
