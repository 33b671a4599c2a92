#include "sched/duration_estimate.h"

#include <algorithm>
#include <limits>

namespace takt::sched {
namespace {

// The ranks of the quantiles, out of 1000.
constexpr int64_t kRanks[3] = {500, 900, 990};
// This many samples in a row, each a quarter away from the median, are a
// change.
constexpr int32_t kShiftLength = 8;

}  // namespace

DurationEstimate DurationEstimate::Guess(int64_t duration_ns) {
  return Restore(duration_ns, duration_ns, duration_ns, 0);
}

DurationEstimate DurationEstimate::Restore(int64_t q50_ns, int64_t q90_ns,
                                           int64_t q99_ns, uint32_t count) {
  DurationEstimate estimate;
  estimate.quantiles_ns_[0] = q50_ns;
  estimate.quantiles_ns_[1] = q90_ns;
  estimate.quantiles_ns_[2] = q99_ns;
  estimate.count_ = count;
  return estimate;
}

bool DurationEstimate::ShiftSeen(int64_t duration_ns) {
  const int64_t median = q50_ns();
  const int32_t side = duration_ns > median + median / 4   ? 1
                       : duration_ns < median - median / 4 ? -1
                                                           : 0;
  if (side == 0 || side * run_length_ < 0) {
    run_length_ = 0;
    run_sum_ns_ = 0;
    run_max_ns_ = 0;
  }
  if (side == 0) return false;
  run_length_ += side;
  run_sum_ns_ += duration_ns / kShiftLength;
  run_max_ns_ = std::max(run_max_ns_, duration_ns);
  return run_length_ == kShiftLength || run_length_ == -kShiftLength;
}

void DurationEstimate::Observe(int64_t duration_ns) {
  duration_ns = std::clamp<int64_t>(duration_ns, 0, kMaxNs);
  if (count_ == 0) {
    *this = Restore(duration_ns, duration_ns, duration_ns, 1);
    return;
  }
  if (ShiftSeen(duration_ns)) {
    *this = Restore(run_sum_ns_, run_max_ns_, run_max_ns_, kShiftLength);
    return;
  }
  const int64_t step =
      std::max<int64_t>(q50_ns() / (8 + std::min<int64_t>(count_, 56)), 1);
  for (int i = 0; i < 3; ++i) {
    int64_t& quantile = quantiles_ns_[i];
    if (duration_ns > quantile) {
      quantile += std::min(std::max<int64_t>(step * kRanks[i] / 1000, 1),
                           duration_ns - quantile);
    } else if (duration_ns < quantile) {
      quantile -=
          std::min(step * (1000 - kRanks[i]) / 1000, quantile - duration_ns);
    }
  }
  // The order survives rounding.
  quantiles_ns_[1] = std::max(quantiles_ns_[1], quantiles_ns_[0]);
  quantiles_ns_[2] = std::max(quantiles_ns_[2], quantiles_ns_[1]);
  if (count_ < std::numeric_limits<uint32_t>::max()) ++count_;
}

}  // namespace takt::sched
