// A Scope groups the jobs of one client of an executor. The client can wait for
// them, fail them, and count them, apart from the jobs of others.
//
// Thread-safety: every method may run on any thread. A scope may be destroyed
// as soon as WaitIdle() has returned true, if no job is submitted to it then.
#ifndef TAKT_EXEC_SCOPE_H_
#define TAKT_EXEC_SCOPE_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"

namespace takt::exec {

class Executor;

class Scope {
 public:
  struct Statistics {
    uint64_t submitted_count = 0;
    uint64_t finished_count = 0;
    uint64_t skipped_count = 0;  // Ranges of tiles that a failure skipped.
    uint64_t tile_count = 0;     // Tiles that ran.
  };

  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();  // No job of it may be in flight.

  // Tiles of its jobs that have not begun do not run from now on; Finish() is
  // called all the same. The first error stays.
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mutex_);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // OK unless it has failed.
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until no job is in flight, and runs jobs of `executor` meanwhile.
  // False if `deadline_ns` (of NowNs()) passes before.
  bool WaitIdle(Executor& executor, int64_t deadline_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);

  Statistics statistics() const;

 private:
  friend class StealingExecutor;
  struct Waiter;

  void Begin() {
    submitted_.fetch_add(1, std::memory_order_relaxed);
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  void AddTiles(uint32_t count) {
    tiles_.fetch_add(count, std::memory_order_relaxed);
  }
  void AddSkipped() { skipped_.fetch_add(1, std::memory_order_relaxed); }
  // Called after a job's Finish(). The scope may be gone when it returns.
  void End() ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  Waiter* waiters_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::atomic<bool> failed_{false};
  // Falls to 0 only under mutex_.
  std::atomic<uint64_t> in_flight_{0};
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> skipped_{0};
  std::atomic<uint64_t> tiles_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_SCOPE_H_
