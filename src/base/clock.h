// Time is int64_t nanoseconds of one monotonic clock, everywhere.
#ifndef TAKT_BASE_CLOCK_H_
#define TAKT_BASE_CLOCK_H_

#include <cstdint>
#include <limits>

namespace takt {

inline constexpr int64_t kInfiniteFuture = std::numeric_limits<int64_t>::max();

// CLOCK_MONOTONIC.
int64_t NowNs();

// now + timeout, saturating. A timeout of kInfiniteFuture gives
// kInfiniteFuture; a negative timeout counts as 0.
int64_t DeadlineAfter(int64_t now_ns, int64_t timeout_ns);

// Whether the deadline is reached. Does not read the clock for kInfiniteFuture.
inline bool HasPassed(int64_t deadline_ns) {
  return deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns;
}

}  // namespace takt

#endif  // TAKT_BASE_CLOCK_H_
