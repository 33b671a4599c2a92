// A WorkerSlot is a worker of the work-stealing executor: its thread, the
// places where its jobs wait, and its backup thread.
//
// Thread-safety: each member says which threads use it.
#ifndef TAKT_EXEC_WORKER_SLOT_H_
#define TAKT_EXEC_WORKER_SLOT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/cpu_set.h"
#include "exec/mailbox.h"
#include "exec/thread_state.h"
#include "exec/work_deque.h"

namespace takt::exec {

// A second thread in a worker's place. It sleeps until a job waits that is more
// urgent than the tile that the worker cannot leave.
struct BackupThread {
  // Written before the thread starts.
  WorkerSlot* slot = nullptr;
  WorkerThread thread;
  std::string trace_name;

  // The thread's own, but for state.shared.
  ThreadState state;
  Worker worker;
  RealTimeThread real_time;
  bool holds_executor = false;  // As a slot's.

  // For all threads.
  ThreadCounters counters;             // Written by the thread.
  std::atomic<bool> is_asleep{false};  // Or about to be.
  // The lane of the job for which it was woken last.
  std::atomic<uint32_t> woken_for{kLaneCount};
};

struct WorkerSlot {
  // A job that does not fit goes to the mailbox. 128 pointers of a lane are
  // one KiB, and more jobs than one worker makes ready at once.
  static constexpr size_t kDequeCapacity = 128;
  using Deque = WorkDeque<Job, kDequeCapacity>;

  // Written before the threads start.
  uint32_t index = 0;
  CpuSet placement;
  uint32_t cluster = 0;
  std::vector<uint32_t> victims;  // The other workers, nearest first.
  WorkerThread thread;
  std::string trace_name;
  std::unique_ptr<BackupThread> backup;  // Null: it has none.

  // The worker's own, but for state.shared.
  ThreadState state;
  Worker worker;
  RealTimeThread real_time;
  bool holds_executor = false;  // Detached: drops a reference at its end.
  uint32_t trim_seen = 0;  // StealingExecutor::trim_count_ at its last trim.

  // For all threads.
  ThreadCounters counters;             // Written by the worker.
  std::atomic<size_t> local_bytes{0};  // As `worker` has; written by it.

  // Lanes whose deque may hold a job. Written by the worker, and apart from
  // what it writes all the time.
  alignas(64) AtomicLaneMask deque_lanes;
  Deque deques[kLaneCount];
  alignas(64) Mailbox mailbox;

  // Lanes in which a job waits here. On any thread.
  LaneMask lanes() const {
    return deque_lanes.Read(std::memory_order_seq_cst) | mailbox.lanes();
  }

  // On the worker: puts `job` where other threads steal it. False if there is
  // no room.
  bool PushDeque(Job* job) {
    TAKT_DCHECK(job->lane < kLaneCount && job->allowed == nullptr);
    const LaneMask lanes = deque_lanes.Read(std::memory_order_relaxed);
    // First: a lane with a job is always marked.
    if (!lanes.Contains(job->lane)) deque_lanes.Write(lanes.With(job->lane));
    return deques[job->lane].Push(job);
  }
  // On the worker: the newest job of `lane`; nullptr if there is none.
  Job* PopDeque(uint32_t lane) {
    const LaneMask lanes = deque_lanes.Read(std::memory_order_relaxed);
    if (!lanes.Contains(lane)) return nullptr;
    Job* const job = deques[lane].Pop();
    if (job == nullptr) deque_lanes.Write(lanes.Without(lane));
    return job;
  }
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_WORKER_SLOT_H_
