#include "base/clock.h"

#include <time.h>

#include "base/math.h"

namespace takt {

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t DeadlineAfter(int64_t now_ns, int64_t timeout_ns) {
  if (timeout_ns <= 0) return now_ns;
  int64_t deadline_ns = 0;
  if (timeout_ns == kInfiniteFuture ||
      !CheckedAdd(now_ns, timeout_ns, &deadline_ns)) {
    return kInfiniteFuture;
  }
  return deadline_ns;
}

}  // namespace takt
