#include "stream/response_predictor.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace takt::stream {

namespace {

constexpr double kTargetPart = 0.01;
// The step by which one job moves the part of jobs that may exceed the
// prediction. One job in a hundred exceeds it; with it the part falls by 0.002,
// and with each other job it rises by 0.00002.
constexpr double kStep = 0.002;
// The upper limit of the part, so that a long time without a slow job does not
// make the predictions too short.
constexpr double kLargestPart = 2 * kTargetPart;
// The same step for the margin of jobs that wait. They are fewer.
constexpr double kWaitStep = 0.03;

int64_t ToNs(double ns) { return static_cast<int64_t>(ns + 0.5); }

}  // namespace

ResponsePredictor::ResponsePredictor() : exceeding_part_(kTargetPart) {}

void ResponsePredictor::Insert(int64_t duration_ns) {
  TAKT_CHECK(count_ < kWindow);
  int64_t* const end = sorted_.data() + count_;
  int64_t* const place = std::upper_bound(sorted_.data(), end, duration_ns);
  std::copy_backward(place, end, end + 1);
  *place = duration_ns;
  ++count_;
}

void ResponsePredictor::Remove(int64_t duration_ns) {
  TAKT_CHECK(count_ > 0);
  int64_t* const end = sorted_.data() + count_;
  int64_t* const place = std::lower_bound(sorted_.data(), end, duration_ns);
  TAKT_CHECK(place != end && *place == duration_ns);
  std::copy(place + 1, end, place);
  --count_;
}

int64_t ResponsePredictor::Quantile(double exceeding_part) const {
  TAKT_DCHECK(count_ > 0);
  // The rank that a new value exceeds with at most this probability, if it
  // comes from where the others came from. Too few jobs: the slowest one.
  const double rank =
      std::ceil((static_cast<double>(count_) + 1) * (1 - exceeding_part));
  const size_t index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted_[std::min(index, count_ - 1)];
}

void ResponsePredictor::Add(int64_t duration_ns) {
  duration_ns = std::max<int64_t>(duration_ns, 0);
  if (count_ > 0) {
    const bool exceeds = duration_ns > predicted_.q99_ns;
    exceeding_part_ += kStep * (kTargetPart - (exceeds ? 1 : 0));
    exceeding_part_ = std::clamp(exceeding_part_, 0.0, kLargestPart);
  }
  if (count_ == kWindow) {
    Remove(ring_[next_]);
    sum_ns_ -= ring_[next_];
  }
  Insert(duration_ns);
  sum_ns_ += duration_ns;
  ring_[next_] = duration_ns;
  next_ = (next_ + 1) % kWindow;
  predicted_ = {Quantile(0.5), Quantile(exceeding_part_)};
  TAKT_DCHECK(predicted_.median_ns <= predicted_.q99_ns);
}

ResponsePredictor::Durations ResponsePredictor::PredictAfter(
    Durations rest, size_t count) const {
  TAKT_DCHECK(count_ > 0 && count > 0);
  const auto jobs = static_cast<double>(count);
  const auto q99_ns = static_cast<double>(predicted_.q99_ns);
  const double mean_ns = std::min(
      static_cast<double>(sum_ns_) / static_cast<double>(count_), q99_ns);
  const auto rest_ns = static_cast<double>(rest.median_ns);
  const double rest_margin_ns = static_cast<double>(rest.q99_ns) - rest_ns;
  const double margin_ns = q99_ns - mean_ns;
  const double sum_ns = rest_margin_ns + jobs * margin_ns;
  const double root_ns =
      std::sqrt(rest_margin_ns * rest_margin_ns + jobs * margin_ns * margin_ns);
  const double before_ns = rest_ns + (jobs - 1) * mean_ns;
  const auto median_ns = static_cast<double>(predicted_.median_ns);
  const double late_ns =
      before_ns + mean_ns + root_ns + dependence_ * (sum_ns - root_ns);
  return {ToNs(before_ns + median_ns), ToNs(late_ns)};
}

void ResponsePredictor::AddWait(bool has_kept) {
  dependence_ -= kWaitStep * (kTargetPart - (has_kept ? 0 : 1));
  dependence_ = std::clamp(dependence_, 0.0, 1.0);
}

}  // namespace takt::stream
