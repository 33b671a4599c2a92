// A Lease is the right to use a unit. It has one holder at a time. The most
// urgent request gets it next, not the first one, and the holder releases it
// between operations. A holder waits for nothing except the unit itself.
//
// No request starves: one that was passed over kPassedOverMax times goes first.
//
// Among processes that share the unit, a SharedLease says which one has it. The
// process then serves its own requests until another process should go first.
//
// Thread-safety: every method may run on any thread; Acquire() and Release() of
// one turn may be different ones. Lock order: mutex_ is a leaf.
#ifndef TAKT_NPU_LEASE_H_
#define TAKT_NPU_LEASE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/sleeper.h"
#include "npu/lease_order.h"
#include "npu/shared_lease.h"

namespace takt::npu {

class Lease {
 public:
  struct Statistics {
    uint64_t grant_count = 0;
    uint64_t wait_count = 0;   // Grants that had to wait.
    uint64_t aging_count = 0;  // Grants after being passed over too often.
    uint32_t waiting_count = 0;
  };

  // One grant. Both numbers are on one count of requests and grants: a request
  // that came before another's grant and was granted after it was passed over.
  struct Turn {
    uint64_t asked = 0;
    uint64_t granted = 0;
    bool is_aged = false;  // Granted because it was passed over too often.
    int64_t waited_ns = 0;
  };

  Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // Shares the unit with other processes. Before all else.
  void Share(std::unique_ptr<SharedLease> shared) {
    shared_ = std::move(shared);
  }
  // Null: no other process takes part.
  SharedLease* shared() const { return shared_.get(); }

  // Blocks until it is this caller's turn.
  Turn Acquire(const Urgency& urgency);
  void Release();

  Statistics statistics() const;
  // The turns before that of a request made now: the holder's, and those of
  // waiting requests that would go first.
  uint32_t CountAhead(const Urgency& urgency) const;

 private:
  // On the stack of the thread that waits.
  struct Waiter {
    Urgency urgency;
    uint32_t passed_over = 0;
    bool has_shared = false;  // The process has the shared lease.
    Turn turn;
    Waiter* next = nullptr;
    Sleeper sleeper;
  };
  static constexpr uint32_t kGranted = 1;

  // Unlinks the waiter whose turn it is.
  Waiter* TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same, and says who holds the lease now.
  Waiter* PassOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Blocks until the waiter, which has been queued, is granted.
  static void SleepUntilGranted(Waiter* waiter);
  // Gets the shared lease for the process. Returns when it is the waiter's
  // turn, which may be after others that are more urgent by then.
  void AcquireShared(Waiter* waiter) ABSL_LOCKS_EXCLUDED(mutex_);

  std::unique_ptr<SharedLease> shared_;
  mutable Mutex mutex_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  Waiter* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // First come, first.
  uint64_t count_ ABSL_GUARDED_BY(mutex_) = 0;       // Requests and grants.
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
};

// Holds a lease as long as this object lives: for calls of the driver that
// belong to no job. They have the urgency of a job of normal priority.
class ScopedLease {
 public:
  explicit ScopedLease(Lease& lease, const Urgency& urgency = Urgency())
      : lease_(lease) {
    lease.Acquire(urgency);
  }
  ~ScopedLease() { lease_.Release(); }
  ScopedLease(const ScopedLease&) = delete;
  ScopedLease& operator=(const ScopedLease&) = delete;

 private:
  Lease& lease_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_LEASE_H_
