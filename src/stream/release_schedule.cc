#include "stream/release_schedule.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"

namespace takt::stream {

ReleaseSchedule::ReleaseSchedule(int64_t period_ns) : period_ns_(period_ns) {
  TAKT_CHECK(period_ns >= 0);
}

void ReleaseSchedule::Start(int64_t start_ns, int64_t now_ns) {
  next_ns_ = start_ns;
  if (period_ns_ == 0 || start_ns >= now_ns) return;
  // Unsigned, because a caller's start time may be any number.
  const uint64_t behind_ns =
      static_cast<uint64_t>(now_ns) - static_cast<uint64_t>(start_ns);
  const auto phase_ns =
      static_cast<int64_t>(behind_ns % static_cast<uint64_t>(period_ns_));
  next_ns_ =
      phase_ns == 0 ? now_ns : DeadlineAfter(now_ns, period_ns_ - phase_ns);
  TAKT_CHECK(next_ns_ >= now_ns);
}

uint64_t ReleaseSchedule::Advance(int64_t now_ns) {
  TAKT_CHECK(period_ns_ > 0);
  const int64_t behind_ns = std::max<int64_t>(0, now_ns - next_ns_);
  const int64_t missed = behind_ns / period_ns_;
  next_ns_ = DeadlineAfter(next_ns_ + missed * period_ns_, period_ns_);
  TAKT_CHECK(next_ns_ > now_ns);
  return static_cast<uint64_t>(missed);
}

}  // namespace takt::stream
