// A Job is work handed to an executor: a number of tiles that may run in any
// order and at once; the last one to end, ends the job.
#ifndef TAKT_EXEC_JOB_H_
#define TAKT_EXEC_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "exec/lane_mask.h"
#include "exec/worker_set.h"

namespace takt::exec {

class Executor;
class Mailbox;
class Scope;

// How a job stands among others.
struct JobTraits {
  uint8_t lane = kNormalLane;  // Below kLaneCount.
  // Of NowNs(). In a lane the earliest goes first; those without one follow in
  // the order in which they came.
  int64_t deadline_ns = kInfiniteFuture;
  // The workers that may run it, of the same executor; nullptr: all, and
  // helping_callers. Outlives the job.
  const WorkerSet* allowed = nullptr;

  bool has_deadline() const { return deadline_ns != kInfiniteFuture; }
};

// What a tile may use while it runs on a thread. Belongs to one thread.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Makes local memory of at least `bytes`. False if the system has none.
  bool ReserveLocalMemory(size_t bytes) {
    return bytes <= local_bytes || GrowLocalMemory(bytes);
  }

  // True once something more urgent than what runs here waits for a thread.
  // Asked between two tiles: costs two loads.
  bool IsPreempted() const {
    return shared_hints_ != nullptr && HintedLanes().Intersects(stops_for_);
  }

  // Whether what stands so may run on this thread now, or has to be submitted:
  // it is not allowed here, the thread is kept for what is more urgent, or
  // such a thing waits.
  bool MayRun(const JobTraits& traits) const {
    if (traits.lane < lane_min_ ||
        (traits.allowed != nullptr && !traits.allowed->Contains(index))) {
      return false;
    }
    return shared_hints_ == nullptr ||
           !HintedLanes().Intersects(LaneMask::Above(traits.lane));
  }

  // Workers have 0 to worker_count() - 1; every helper, and a thread outside
  // an executor, has worker_count(). So it is not an identity.
  uint32_t index = 0;
  // Scratch, 64-aligned; contents undefined.
  uint8_t* local_memory = nullptr;
  size_t local_bytes = 0;
  // Where code that runs several tiles stores the first that it has not run,
  // if it stops because IsPreempted(). Null: it does not stop.
  uint32_t* reached = nullptr;
  // Set by who has been told to have it stop, whatever waits; may be null.
  const std::atomic<bool>* stop = nullptr;
  // Whether what runs here is to stop after a tile.
  bool IsToYield() const {
    return IsPreempted() ||
           (stop != nullptr && stop->load(std::memory_order_relaxed));
  }
  bool MustStop() const { return reached != nullptr && IsToYield(); }

 private:
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
  LaneMask stops_for_;     // Hints for which the running job stops.
  uint32_t lane_min_ = 0;  // Of a helper that is not there for all lanes.
};

// Its owner keeps it alive until Finish() has been called; Finish() may
// destroy it.
class Job : public JobTraits {
 public:
  // Runs tiles from `begin` on, below `end`; returns the first that it has not
  // run. That is `end`, or an earlier one, but never `begin`, when
  // worker.IsPreempted(): the executor calls again for the rest, on this
  // thread. Several threads at once, disjoint ranges.
  virtual uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) = 0;
  // After every tile has run, on the thread that ran the last one. Brief; may
  // submit other jobs.
  virtual void Finish(Worker& worker) = 0;

  // Set before Submit(), as is the traits:
  uint32_t tile_count = 1;       // At least 1.
  uint32_t local_bytes = 0;      // Scratch that each running thread needs.
  int64_t expected_tile_ns = 0;  // What a tile costs; 0: not known.
  // If tiles stop between parts of them when worker.IsPreempted(): what such a
  // part costs. 0: they do not.
  int64_t grain_ns = 0;
  bool sequential = false;  // Tiles in order, one at a time.
  Scope* scope = nullptr;   // Whose work it is. Outlives the job.

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
    scope = other.scope;
    return *this;
  }
  ~Job() = default;

 private:
  friend class Closure;
  friend class Mailbox;
  friend class StealingExecutor;

  // Runs on one thread at a time, so there is one ticket (stealing_executor.h).
  bool is_single() const { return sequential || tile_count == 1; }
  // Tiles are claimed from both ends: how many from the first on is the lower
  // half of `claimed`, how many from the last back the upper.
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

  Job* next_ = nullptr;  // In a mailbox.
  Job* previous_ = nullptr;
  Mailbox* mailbox_ = nullptr;
  std::atomic<bool> is_being_posted_{false};  // By one thread only.
  std::atomic<bool> is_posted_{false};        // In mailbox_, or has been.
  bool is_listed_ = false;                    // In it now; under its lock.
  bool is_closure_ = false;                   // Finish() may take its time.
  std::atomic<uint32_t> tickets_{0};
  std::atomic<uint64_t> claimed_{0};
};

// A Job of one function call, for what is not tiles: the continuation of an
// invocation, say. Embedded in what it continues: posting allocates nothing.
class Closure : public Job {
 public:
  using Function = void (*)(Closure* closure, Worker& worker);
  explicit Closure(Function function) : function_(function) {
    is_closure_ = true;
  }

 private:
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) final { return end; }
  // May destroy it.
  void Finish(Worker& worker) final { function_(this, worker); }

  const Function function_;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_JOB_H_
