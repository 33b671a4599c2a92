// A Job is work handed to an executor: a number of tiles that may run in any
// order and at once; the last one to end, ends the job.
#ifndef TAKT_EXEC_JOB_H_
#define TAKT_EXEC_JOB_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/borrower.h"
#include "base/check.h"
#include "base/clock.h"
#include "exec/lane_mask.h"
#include "exec/worker_set.h"

namespace takt::exec {

class Executor;
class Mailbox;

// Which jobs come before a job, and which threads may run it.
struct JobTraits {
  uint8_t lane = kNormalLane;  // Below kLaneCount.
  // On the clock of NowNs(). In a lane the earliest deadline goes first; jobs
  // without one follow in the order of their arrival.
  int64_t deadline_ns = kInfiniteFuture;
  // The workers of the executor that may run it. nullptr: all workers, and
  // helping callers. Outlives the job.
  const WorkerSet* allowed = nullptr;
  // The loans of its call, for devices. Outlives the job. May be null.
  const Borrower* borrower = nullptr;

  bool has_deadline() const { return deadline_ns != kInfiniteFuture; }
};

// A tile uses the Worker of the thread on which it runs. Belongs to one thread.
class Worker {
 public:
  // What frees the local memory: the worker's destructor; or the end of the
  // thread or of the last CallerMemory, and the worker is never destroyed.
  enum class Lifetime : uint8_t { kObject, kThread };

  explicit Worker(Lifetime lifetime = Lifetime::kObject)
      : lifetime_(lifetime) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Provides local memory of at least `bytes`. False if the system has none.
  bool ReserveLocalMemory(size_t bytes) {
    return bytes <= local_bytes || GrowLocalMemory(bytes);
  }

  // True once a job waits that is more urgent than the one that runs here, or a
  // helping caller is to return to its call. Asked between two tiles; it costs
  // two loads.
  bool IsPreempted() const {
    return shared_hints_ != nullptr && HintedLanes().Intersects(stops_for_);
  }

  // Whether a job with these traits may run on this thread now. Otherwise it
  // must be submitted: this thread is not allowed to run it, runs only more
  // urgent jobs, or a more urgent job waits.
  bool MayRun(const JobTraits& traits) const {
    if (traits.lane < lane_min_ ||
        (traits.allowed != nullptr && !traits.allowed->Contains(index))) {
      return false;
    }
    return shared_hints_ == nullptr ||
           !HintedLanes().Intersects(LaneMask::Above(traits.lane));
  }

  // 0 to worker_count() - 1 on workers; worker_count() on all helping callers,
  // so it does not identify a thread.
  uint32_t index = 0;
  // Scratch memory, aligned to 64 bytes; its contents are undefined.
  uint8_t* local_memory = nullptr;
  size_t local_bytes = 0;
  // Code that runs several tiles and stops early stores here the first tile
  // that it has not run. Null: it must not stop early.
  uint32_t* reached = nullptr;
  // True while the running job must stop, even if no other job waits. May be
  // null.
  const std::atomic<bool>* stop = nullptr;
  // Whether the running job is to stop after a tile.
  bool IsToYield() const {
    return IsPreempted() ||
           (stop != nullptr && stop->load(std::memory_order_relaxed));
  }
  bool MustStop() const { return reached != nullptr && IsToYield(); }

 private:
  friend class CallerMemory;
  friend class Executor;
  friend class StealingExecutor;
  bool GrowLocalMemory(size_t bytes);
  void ReleaseLocalMemory();

  LaneMask HintedLanes() const {
    return shared_hints_->Read(std::memory_order_relaxed) |
           own_hints_->Read(std::memory_order_relaxed);
  }

  // Lanes in which a job may wait for any thread, and for this one. Null on a
  // thread that works for no executor now.
  const AtomicLaneMask* shared_hints_ = nullptr;
  const AtomicLaneMask* own_hints_ = nullptr;
  LaneMask stops_for_;  // Hints for which the running job stops.
  // The thread runs jobs of this lane and above only.
  uint32_t lane_min_ = 0;
  const Lifetime lifetime_;
  // In the list of CallerMemory, if that has this epoch.
  uint64_t epoch_ = 0;
  Worker* next_ = nullptr;
  Worker* previous_ = nullptr;
};

// Threads that call have workers of Lifetime::kThread, and keep their local
// memory from one call to the next as long as there is a CallerMemory in the
// process. The last one frees the memory of all. Each executor has one.
class CallerMemory {
 public:
  CallerMemory();
  ~CallerMemory();
  CallerMemory(const CallerMemory&) = delete;
  CallerMemory& operator=(const CallerMemory&) = delete;

 private:
  friend class Worker;
  // At its end this thread frees what `worker` has. False if the system has no
  // memory for that.
  static bool Keep(Worker& worker);
  static void EndThread(void* worker);
};

// The owner of a job keeps it until Finish() is called; Finish() may destroy
// it.
class Job : public JobTraits {
 public:
  // Runs the tiles from `begin` on, below `end`, and returns the first one that
  // it has not run: `end`, or an earlier one if worker.IsPreempted(), but never
  // `begin`. The executor then calls it again for the rest, on this thread.
  // Several threads may call it at once, with disjoint ranges.
  virtual uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) = 0;
  // Called after all tiles have run, on the thread that drops the last ticket.
  // It must return soon. It may submit other jobs, or this job again.
  virtual void Finish(Worker& worker) = 0;

  // Set before Submit(), like the traits:
  uint32_t tile_count = 1;       // At least 1.
  uint32_t local_bytes = 0;      // Scratch that each running thread needs.
  int64_t expected_tile_ns = 0;  // Duration of a tile; 0: not known.
  // If tiles may stop between two parts when worker.IsPreempted(): the duration
  // of a part. 0: they may not.
  int64_t grain_ns = 0;
  bool sequential = false;  // Tiles in order, one at a time.
  // Among processes it counts as a job of this lane at the most, as long as it
  // is not raised: its lane is higher only for the other jobs of its executor.
  uint8_t core_lane_max = kLaneCount - 1;
  // Executor::Raise() may be called while it waits. Such a job waits in
  // mailboxes only, or as the next job of a thread.
  bool can_be_raised = false;

  // The lane in which the job is now: its own, or a higher one to which it was
  // raised.
  uint32_t lane_now() const { return RaisedFrom(lane); }
  // The lane in which other processes see it.
  uint32_t core_lane() const {
    return RaisedFrom(std::min(lane, core_lane_max));
  }
  // True also if it was raised to its own lane: it then goes before the other
  // jobs of the lane.
  bool is_raised() const {
    return raised_.load(std::memory_order_seq_cst) > lane;
  }
  // Raises the job before Submit(); Executor::Raise() does so afterwards.
  static constexpr int32_t kNotRaised = -1;
  void SetRaised(int32_t to) {
    TAKT_DCHECK(to >= kNotRaised && to < static_cast<int32_t>(kLaneCount));
    raised_.store(static_cast<uint8_t>(to + 1), std::memory_order_seq_cst);
  }

 protected:
  Job() = default;
  // A job may be copied before it is submitted.
  Job(const Job& other) : JobTraits(other) { *this = other; }
  Job& operator=(const Job& other) {
    JobTraits::operator=(other);
    tile_count = other.tile_count;
    local_bytes = other.local_bytes;
    expected_tile_ns = other.expected_tile_ns;
    grain_ns = other.grain_ns;
    sequential = other.sequential;
    core_lane_max = other.core_lane_max;
    can_be_raised = other.can_be_raised;
    return *this;
  }
  ~Job() = default;

 private:
  friend class Closure;
  friend class Mailbox;
  friend class StealingExecutor;

  uint32_t RaisedFrom(uint32_t own) const {
    const uint32_t raised = raised_.load(std::memory_order_seq_cst);
    return raised > own ? raised - 1 : own;
  }
  bool may_be_in_deque() const { return !has_deadline() && !can_be_raised; }
  // Whether one thread at a time runs it. It then has one ticket
  // (stealing_executor.h).
  bool is_single() const { return sequential || tile_count == 1; }
  // Tiles are claimed from both ends. The lower half of `claimed` counts those
  // from the first one on, the upper half those from the last one back.
  static uint64_t FromFront(uint64_t claimed) { return claimed & UINT32_MAX; }
  static uint64_t FromBack(uint64_t claimed) { return claimed >> 32; }
  // `claimed` and `count` more tiles.
  static uint64_t Claimed(uint64_t claimed, uint64_t count, bool from_back) {
    return claimed + (from_back ? count << 32 : count);
  }
  uint32_t unclaimed_count(std::memory_order order) const {
    const uint64_t claimed = claimed_.load(order);
    return static_cast<uint32_t>(tile_count - FromFront(claimed) -
                                 FromBack(claimed));
  }
  bool HasUnclaimed() const {
    return unclaimed_count(std::memory_order_seq_cst) > 0;
  }

  Job* next_ = nullptr;  // In its mailbox, as is previous_.
  Job* previous_ = nullptr;
  // The mailbox that lists it; changes under the lock of that mailbox.
  std::atomic<Mailbox*> mailbox_{nullptr};
  uint8_t listed_lane_ = 0;         // In mailbox_; under its lock.
  bool is_listed_raised_ = false;   // Likewise: before others of that lane.
  std::atomic<uint8_t> raised_{0};  // A lane and one; 0: none.
  std::atomic<bool> is_being_posted_{false};  // Set by one thread only.
  std::atomic<bool> is_posted_{false};        // It is in mailbox_, or was.
  bool is_closure_ = false;                   // Finish() may take its time.
  std::atomic<uint32_t> tickets_{0};
  std::atomic<uint64_t> claimed_{0};
  // What the executor asks other processes for: threads below a lane. 0: none.
  std::atomic<uint32_t> core_claim_{0};
};

// A Job that calls one function, such as the continuation of an invocation. It
// is part of the object that it continues, so Submit() allocates nothing.
class Closure : public Job {
 public:
  using Function = void (*)(Closure* closure, Worker& worker);
  explicit Closure(Function function) : function_(function) {
    is_closure_ = true;
  }

 private:
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) final { return end; }
  // The function may destroy the closure.
  void Finish(Worker& worker) final { function_(this, worker); }

  const Function function_;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_JOB_H_
