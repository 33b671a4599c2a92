#include "base/sleeper.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/futex.h"

namespace takt {

void Sleeper::Raise(uint32_t flag) {
  TAKT_DCHECK(flag != 0 && (flag & kAsleep) == 0);
  const uint32_t old = word_.fetch_or(flag, std::memory_order_acq_rel);
  // FutexWake() uses the address only. If the object is gone by now, a thread
  // that sleeps on that address reads its own word and sleeps again.
  if ((old & kAsleep) != 0) FutexWake(&word_, 1);
}

uint32_t Sleeper::Sleep(int64_t deadline_ns) {
  uint32_t word = word_.fetch_or(kAsleep, std::memory_order_acq_rel);
  TAKT_DCHECK((word & kAsleep) == 0);  // Only one thread sleeps here.
  word |= kAsleep;
  while (word == kAsleep) {
    if (deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns) break;
    FutexWait(&word_, kAsleep, deadline_ns);
    word = word_.load(std::memory_order_acquire);
  }
  return word_.fetch_and(~kAsleep, std::memory_order_acq_rel) & ~kAsleep;
}

}  // namespace takt
