#include "plan_run/release_cursor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/stable_sort.h"

namespace takt::plan_run {

ReleaseCursor::ReleaseCursor(std::vector<PlannedRelease> releases,
                             int64_t period_ns)
    : releases_(std::move(releases)), period_ns_(period_ns) {
  TAKT_CHECK(period_ns >= 0);
  StableSort(releases_, [](const PlannedRelease& a, const PlannedRelease& b) {
    return a.offset_ns < b.offset_ns;
  });
}

void ReleaseCursor::SetOrigin(int64_t origin_ns) {
  TAKT_CHECK(index_ == 0 && cycle_ == 0);
  origin_ns_ = origin_ns;
}

int64_t ReleaseCursor::EndOfPeriod(int64_t at_ns) const {
  if (period_ns_ == 0) return at_ns;
  const int64_t past_ns = std::max<int64_t>(at_ns - origin_ns_, 0);
  const int64_t phase_ns = past_ns % period_ns_;
  const int64_t rest_ns = phase_ns == 0 ? 0 : period_ns_ - phase_ns;
  return DeadlineAfter(origin_ns_ + past_ns, rest_ns);
}

absl::optional<NextRelease> ReleaseCursor::Next() const {
  if (index_ == releases_.size()) return absl::nullopt;
  const PlannedRelease& planned = releases_[index_];
  const int64_t release_ns =
      DeadlineAfter(origin_ns_, static_cast<int64_t>(cycle_) * period_ns_ +
                                    planned.offset_ns);
  if (release_ns >= end_ns_) return absl::nullopt;
  return NextRelease{release_ns, planned.job, cycle_};
}

void ReleaseCursor::Advance() {
  TAKT_CHECK(index_ < releases_.size());
  ++index_;
  if (index_ < releases_.size() || period_ns_ == 0) return;
  index_ = 0;
  ++cycle_;
}

}  // namespace takt::plan_run
