// A Task is submitted work in the job shop. It knows which tiles are left. The
// scheduler decides the number of shards of each run of a task. A shard is a
// job of the executor; it takes pieces until none is left or the run stops.
//
//              Start()              the last tile is done
//   waiting -------------> running ------------------------> done
//      ^                      |                               ^
//      |       Yield()        |                               |
//      +----------------------+       the last tile is done   |
//      +------------------------------------------------------+
//
// A task that yields is in the state "waiting" at once, although some of its
// tiles still run; their threads report these tiles later. So a task may become
// done while it waits, and a shard of an earlier run may work for the current
// run. A shard that starts late finds no piece and ends.
//
// A task ends once. Either it is done: all tiles have run. Or it is given up:
// Work::GiveUp() is called when no tile of it runs.
//
// Thread-safety: RunPieces() on the threads of the executor, the rest by the
// decider of the shop. Lock order: mutex_ is a leaf.
#ifndef TAKT_SHOP_TASK_H_
#define TAKT_SHOP_TASK_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "base/block_pool.h"
#include "base/mutex.h"
#include "base/ref.h"
#include "base/spare_memory.h"
#include "sched/scheduler.h"
#include "shop/scheduled_stream.h"
#include "shop/shop_event_queue.h"
#include "shop/work.h"

namespace takt::shop {

class JobShop;

class Task {
 public:
  // `work` was prepared as for Executor::Submit().
  Task(JobShop* shop, ScheduledJob* job, Work* work);

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

  // Starts a run of `shard_count` shards on `workers` (null: all that the work
  // allows), in the lane of the work, or in `lane_min` if that is higher. No
  // effect if the task is done; the event of its end is then in the queue.
  void Start(uint32_t shard_count, const exec::WorkerSet* workers, bool is_npu,
             uint8_t lane_min = 0) ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes the task wait again; running tiles continue to their end. False if
  // the task is done.
  bool Yield() ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops the task: no further tile begins. True: no tile runs, and the task
  // has stopped. False: an event will report that it has stopped or is done.
  bool Cancel() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives the waiting task up. True: no tile runs, so the caller must call
  // Work::GiveUp() and release the task. False: the thread that runs the last
  // tile does so, or the task is done.
  bool GiveUp() ABSL_LOCKS_EXCLUDED(mutex_);
  uint32_t done_ppm() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The start of the last run, and its duration; 0 for a run that stopped
  // before its first tile.
  int64_t begin_ns() const ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t ran_ns() const ABSL_LOCKS_EXCLUDED(mutex_);
  // How many shards of the current run have ended with kShrunk since the last
  // call.
  uint32_t TakeShrunkCount() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class JobShop;
  class Shard;
  enum class Outcome : uint8_t {
    kMore,         // The shard takes another piece.
    kGoesOn,       // The shard continues later: more urgent work waits.
    kNothingLeft,  // For this shard.
    kShrunk,       // Likewise; others still run, and the shop gets its core.
    kGivenBack,    // Likewise, of an earlier run: SubmitMissing().
    kStopped,
    kGivenUp,
    kDone,
  };
  struct Piece {
    uint32_t begin;
    uint32_t end;
  };

  ~Task() = default;
  exec::Executor& executor() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes a shard of the current run. It may be destroyed as soon as it is
  // submitted.
  Shard* NewShard() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Submits a shard for pieces that an earlier run has returned, if the current
  // run has too few shards.
  void SubmitMissing() ABSL_LOCKS_EXCLUDED(mutex_);
  void CloseRun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t CountToClaim(const Piece& from) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs pieces of the run `epoch` on this thread, which runs `shard`, as long
  // as the outcome is kMore.
  Outcome RunPieces(const Shard& shard, uint32_t epoch, exec::Worker& worker)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // kMore if there is a piece.
  Outcome Claim(uint32_t epoch, bool from_back, Piece* piece)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether a shard that finds no piece gives its core back before the others
  // have ended.
  bool Shrinks() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports that the tiles of `piece` below `reached` are done.
  Outcome Return(uint32_t epoch, Piece piece, uint32_t reached)
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::atomic<bool>& stop(uint32_t epoch) { return stops_[epoch % 2]; }

  JobShop* const shop_;
  ScheduledJob* const job_;
  // Until it is done or given up. A task that has yielded may become done on
  // another thread at any time, so the decider has copies of what it reads.
  Work* const work_;
  const uint32_t pools_;
  const uint32_t tile_count_;
  const bool is_sequential_;
  std::atomic<int32_t> references_{1};
  // Whether the shards of a run must stop, by the parity of the run's number:
  // shards of the previous run may still be in a tile. A shard that stays in
  // one tile for longer than the whole next run stops only at the end of its
  // piece.
  std::atomic<bool> stops_[2] = {false, false};
  EventOf<Task> event_{this};  // It is ready; later: it has stopped or is done.
  EventOf<Task> shrunk_event_{this};

  mutable Mutex mutex_;
  absl::InlinedVector<Piece, 6, SpareAllocator<Piece>> pieces_
      ABSL_GUARDED_BY(mutex_);
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // The number of the run.
  bool is_on_ ABSL_GUARDED_BY(mutex_) = false;  // That run.
  // On an NPU one thread takes all tiles at once.
  bool is_on_npu_ ABSL_GUARDED_BY(mutex_) = false;
  // The executor whose threads run it.
  exec::Executor* executor_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_given_up_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t shard_count_ ABSL_GUARDED_BY(mutex_) = 0;  // That have a core.
  uint32_t shards_left_ ABSL_GUARDED_BY(mutex_) = 0;  // Still at work.
  uint32_t shrunk_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_shrunk_posted_ ABSL_GUARDED_BY(mutex_) = false;
  const exec::WorkerSet* workers_ ABSL_GUARDED_BY(mutex_) = nullptr;
  uint8_t lane_min_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t running_count_ ABSL_GUARDED_BY(mutex_) = 0;  // Pieces, of all runs.
  uint32_t done_count_ ABSL_GUARDED_BY(mutex_) = 0;     // Tiles.
  int64_t begin_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // Of the run's first tile.
  int64_t ran_ns_ ABSL_GUARDED_BY(mutex_) = 0;    // The run, once it is over.

  // Used by the decider only:
  sched::OperationId id_;
  sched::KernelId kernel_ = 0;
  bool is_linked_ = false;
  uint32_t unseen_count_ = 0;  // Its job's, when it was submitted.
  uint32_t trace_name_ = 0;
  // The start of the current run, if it was recorded.
  bool is_recorded_ = false;
  sched::Decision start_;
  int64_t start_ns_ = 0;
  Task* previous_ = nullptr;  // Of the same job.
  Task* next_ = nullptr;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_TASK_H_
