// A Lease is the right to use a unit. It has one holder at a time. The most
// urgent request gets it next, not the first one, and the holder releases it
// between operations. A holder waits for nothing except the unit itself.
//
// No request starves: one that was passed over kPassedOverMax times goes first.
//
// Thread-safety: every method may run on any thread; Acquire() and Release() of
// one turn may be different ones. Lock order: mutex_ is a leaf.
#ifndef TAKT_NPU_LEASE_H_
#define TAKT_NPU_LEASE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "base/borrower.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/sleeper.h"

namespace takt::npu {

// Higher priority first, then the earlier deadline, then first come.
struct Urgency {
  uint8_t priority = 128;
  int64_t deadline_ns = kInfiniteFuture;
  // The loan to the request while it waits. Outlives it. May be null.
  const Borrower* borrower = nullptr;

  // The urgency with the present loan.
  Urgency Now() const;
};

inline bool IsMoreUrgent(const Urgency& a, const Urgency& b) {
  return a.priority != b.priority ? a.priority > b.priority
                                  : a.deadline_ns < b.deadline_ns;
}

class Lease {
 public:
  // Bounds the wait of a request to this number of turns, plus the turns of
  // earlier requests. The number is large enough that urgent work is rarely
  // delayed.
  static constexpr uint32_t kPassedOverMax = 64;

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

  // Blocks until it is this caller's turn.
  Turn Acquire(const Urgency& urgency);
  // False if it is held.
  bool TryAcquire();
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
    Turn turn;
    Waiter* next = nullptr;
    Sleeper sleeper;
  };
  static constexpr uint32_t kGranted = 1;

  // Unlinks the waiter whose turn it is.
  Waiter* TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

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
  explicit ScopedLease(Lease& lease) : lease_(lease) {
    lease.Acquire(Urgency());
  }
  ~ScopedLease() { lease_.Release(); }
  ScopedLease(const ScopedLease&) = delete;
  ScopedLease& operator=(const ScopedLease&) = delete;

 private:
  Lease& lease_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_LEASE_H_
