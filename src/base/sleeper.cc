#include "base/sleeper.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/sleep_word.h"

namespace takt {

void Sleeper::Raise(uint32_t flag) {
  TAKT_DCHECK(flag != 0 && (flag & kAsleep) == 0);
  // FutexWake() uses the address only. If the object is gone by now, a thread
  // that sleeps on that address reads its own word and sleeps again.
  sleep_word::Raise(word_, flag, [this] { FutexWake(&word_, 1); });
}

uint32_t Sleeper::Sleep(int64_t deadline_ns) {
  // Only one thread sleeps here.
  TAKT_DCHECK((word_.load(std::memory_order_relaxed) & kAsleep) == 0);
  static_assert(kAsleep == sleep_word::kAsleep);
  return sleep_word::Sleep(word_, [&] {
    if (HasPassed(deadline_ns)) return false;
    FutexWait(&word_, kAsleep, deadline_ns);
    return true;
  });
}

}  // namespace takt
