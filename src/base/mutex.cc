#include "base/mutex.h"

#include <limits>

#include "base/futex.h"
#include "base/pause.h"
#include "base/realtime_section.h"

namespace takt {

void Mutex::LockSlow() {
  // The thread that holds the lock mostly releases it sooner than a sleep and a
  // wake-up take (some 5 us): 64 pauses are about 2 us.
  for (int i = 0; i < 64; ++i) {
    uint32_t state = state_.load(std::memory_order_relaxed);
    if (state == kFree &&
        state_.compare_exchange_weak(state, kHeld, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return;
    }
    Pause();
  }
  // From here on the state says that a thread may sleep, also once this thread
  // has the lock: it cannot know whether it was the only one.
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
    RealtimeSection::Note(RealtimeViolation::kLock);
    FutexWait(&state_, kContended, kInfiniteFuture);
  }
}

void Mutex::WakeOne() { FutexWake(&state_, 1); }

void CondVar::WaitUntil(Mutex* mutex, int64_t deadline_ns) {
  const uint32_t epoch = epoch_.load(std::memory_order_acquire);
  mutex->Unlock();
  FutexWait(&epoch_, epoch, deadline_ns);
  mutex->Lock();
}

void CondVar::Signal() {
  epoch_.fetch_add(1, std::memory_order_release);
  FutexWake(&epoch_, 1);
}

void CondVar::SignalAll() {
  epoch_.fetch_add(1, std::memory_order_release);
  FutexWake(&epoch_, std::numeric_limits<int>::max());
}

}  // namespace takt
