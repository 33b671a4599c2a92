// A Task is work while the job shop has it: which tiles are left, and who runs
// them. One run of it is as many shards as were decided, each a job of the
// executor that takes pieces until none is left or it is to stop.
//
//            kStart            a shard begins          the last tile is done
//   waiting --------> started -----------------> runs ---------------------->
//   done
//      ^                 |       told to stop      |
//      +-----------------+-------------------------+
//
// A run ends when its last piece is done or given back, not when its last
// shard has come: one that waits behind something else finds nothing to do.
//
// Thread-safety: Run...() on the threads of the executor, the rest by who
// decides. Lock order: mutex_ is a leaf.
#ifndef TAKT_SHOP_TASK_H_
#define TAKT_SHOP_TASK_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "base/block_pool.h"
#include "base/mutex.h"
#include "base/ref.h"
#include "sched/job.h"
#include "shop/event_queue.h"
#include "shop/stream.h"
#include "shop/work.h"

namespace takt::shop {

class JobShop;

class Task {
 public:
  // `work` was prepared as for Executor::Submit().
  Task(JobShop* shop, Job* job, Work* work);

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  static void* operator new(size_t bytes, BlockPool& blocks) {
    return blocks.Allocate(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }

  // Starts a run of `shard_count` shards, on `workers` (null: where the work
  // may).
  void Start(uint32_t shard_count, const exec::WorkerSet* workers)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Has the run end after the tiles that run. True if none does: it has ended
  // now. Otherwise its end is posted.
  bool Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  uint32_t done_ppm() const ABSL_LOCKS_EXCLUDED(mutex_);
  // When the last run began, and how long it took; 0 for one that was stopped
  // before its first tile.
  int64_t begin_ns() const ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t ran_ns() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class JobShop;
  class Shard;
  // Whose threads run it.
  exec::Executor& executor() const;
  enum class Outcome : uint8_t { kGoesOn, kNothingLeft, kStopped, kDone };
  struct Piece {
    uint32_t begin;
    uint32_t end;
  };

  struct TaskEvent : Event {
    Task* task = nullptr;
  };

  ~Task() = default;
  void PostReady(EventQueue& queue);
  void PostEnd(EventQueue& queue, bool is_done);
  // Runs pieces of the run `epoch` on this thread, until there are none for
  // it or something more urgent waits (kGoesOn).
  Outcome RunPieces(uint32_t epoch, exec::Worker& worker)
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool Claim(uint32_t epoch, Piece* piece) ABSL_LOCKS_EXCLUDED(mutex_);
  // The tiles of `piece` below `reached` are done.
  Outcome Return(Piece piece, uint32_t reached) ABSL_LOCKS_EXCLUDED(mutex_);

  JobShop* const shop_;
  Job* const job_;
  Work* const work_;  // Until it is done or given up.
  std::atomic<int32_t> references_{1};
  std::atomic<bool> stop_{false};
  TaskEvent event_;  // Ready, then each end of a run.

  mutable Mutex mutex_;
  absl::InlinedVector<Piece, 6> pieces_ ABSL_GUARDED_BY(mutex_);
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // Odd: a run is on.
  uint32_t shard_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t running_count_ ABSL_GUARDED_BY(mutex_) = 0;  // Pieces.
  uint32_t done_count_ ABSL_GUARDED_BY(mutex_) = 0;     // Tiles.
  int64_t begin_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // Of the run's first tile.
  int64_t ran_ns_ ABSL_GUARDED_BY(mutex_) = 0;    // The run, once it is over.

  // Of who decides:
  sched::OperationId id_;
  sched::KernelId kernel_ = 0;
  Task* previous_ = nullptr;  // Of the same job.
  Task* next_ = nullptr;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_TASK_H_
