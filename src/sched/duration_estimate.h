// A DurationEstimate learns three quantiles of duration samples, in constant
// space.
//
// Method: stochastic approximation of quantiles (Robbins and Monro, "A
// Stochastic Approximation Method", 1951; the step of one sample, whatever its
// size, is that of Ma, Muthukrishnan and Sandler, "Frugal Streaming for
// Estimating Quantiles", 2013). A sample moves a quantile by a fraction of the
// median that shrinks from 1/8 to 1/64, so an outlier of any size moves it no
// further, and old samples lose their weight. A lasting change (a new clock
// frequency, the cache use of another model) shows as a run of samples on one
// side of the median, and the estimate starts again from that run.
//
// A value; deterministic; integers only.
#ifndef TAKT_SCHED_DURATION_ESTIMATE_H_
#define TAKT_SCHED_DURATION_ESTIMATE_H_

#include <cstdint>

namespace takt::sched {

enum class Quantile : uint8_t { k50, k90, k99 };

class DurationEstimate {
 public:
  // The longest duration that is accepted, about 36 years.
  static constexpr int64_t kMaxNs = int64_t{1} << 60;

  DurationEstimate() = default;
  // A guess that was not measured: its count is 0.
  static DurationEstimate Guess(int64_t duration_ns);
  // Restores a saved estimate. The caller has checked 0 <= q50 <= q90 <= q99 <=
  // kMaxNs.
  static DurationEstimate Restore(int64_t q50_ns, int64_t q90_ns,
                                  int64_t q99_ns, uint32_t count);

  // Learns from a sample of [0, kMaxNs]; others are clamped.
  void Observe(int64_t duration_ns);

  int64_t quantile_ns(Quantile quantile) const {
    return quantiles_ns_[static_cast<uint32_t>(quantile)];
  }
  int64_t q50_ns() const { return quantiles_ns_[0]; }
  int64_t q90_ns() const { return quantiles_ns_[1]; }
  int64_t q99_ns() const { return quantiles_ns_[2]; }
  // Samples seen, saturating. 0: a guess.
  uint32_t count() const { return count_; }
  bool measured() const { return count_ > 0; }

 private:
  bool ShiftSeen(int64_t duration_ns);

  int64_t quantiles_ns_[3] = {0, 0, 0};
  uint32_t count_ = 0;
  // The run of samples far on one side of the median: its length (negative:
  // below), sum and maximum.
  int32_t run_length_ = 0;
  int64_t run_sum_ns_ = 0;
  int64_t run_max_ns_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_DURATION_ESTIMATE_H_
