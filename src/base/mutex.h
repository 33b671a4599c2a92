// A Mutex of four bytes. Without contention, its lock and unlock are one atomic
// operation each, inline. absl::Mutex costs three times as much, which counts
// where an invocation takes several locks; and its code is in a library that
// ThreadSanitizer cannot see into.
//
// It is made for locks that are held for some ten ns. It has no queue, so it is
// not fair.
#ifndef TAKT_BASE_MUTEX_H_
#define TAKT_BASE_MUTEX_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"

namespace takt {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    uint32_t state = kFree;
    if (!state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      LockSlow();
    }
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) {
      WakeOne();
    }
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kContended = 2;  // Held; a thread may sleep.

  void LockSlow();
  void WakeOne();

  std::atomic<uint32_t> state_{kFree};
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Threads wait on a CondVar until other threads change what a Mutex protects. A
// wait may end without a signal, so waits belong in loops.
class CondVar {
 public:
  // Returns with `mutex` locked again.
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    WaitUntil(mutex, kInfiniteFuture);
  }
  // Waits until `deadline_ns` of NowNs() at the latest.
  void WaitUntil(Mutex* mutex, int64_t deadline_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Wakes one waiting thread, or all. The caller may hold the mutex or not.
  void Signal();
  void SignalAll();

 private:
  std::atomic<uint32_t> epoch_{0};  // Counts the signals.
};

}  // namespace takt

#endif  // TAKT_BASE_MUTEX_H_
