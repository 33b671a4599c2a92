// A Histogram counts durations in buckets whose width grows with the duration.
// So a fixed amount of memory gives any quantile to about 3 %.
//
// Thread-safety: none.
#ifndef TAKT_BASE_HISTOGRAM_H_
#define TAKT_BASE_HISTOGRAM_H_

#include <algorithm>
#include <cstdint>

namespace takt {

// A summary of a Histogram: zeros if it is empty.
struct Quantiles {
  uint64_t count = 0;
  int64_t q50 = 0;
  int64_t q99 = 0;
  int64_t q999 = 0;
  int64_t max = 0;  // Exact.
};

class Histogram {
 public:
  // Negative values count as 0.
  void Add(int64_t value);

  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  // The value that a part `permille` of all are at most, from the middle of
  // its bucket and at most max(); 0 if there are none.
  int64_t Quantile(uint32_t permille) const;
  Quantiles quantiles() const {
    return {count_, Quantile(500), Quantile(990), Quantile(999), max_};
  }

 private:
  // Values below 2^kBits have buckets of their own; from there on each power
  // of two has 2^(kBits - 1), up to 2^kExponentMax ns: 19 hours.
  static constexpr uint32_t kBits = 5;
  static constexpr uint32_t kExponentMax = 46;
  static constexpr uint32_t kBucketCount =
      (1u << kBits) + (kExponentMax - kBits) * (1u << (kBits - 1));

  static uint32_t BucketOf(uint64_t value);
  static int64_t MiddleOf(uint32_t bucket);

  uint64_t count_ = 0;
  int64_t max_ = 0;
  uint32_t buckets_[kBucketCount] = {};
};

}  // namespace takt

#endif  // TAKT_BASE_HISTOGRAM_H_
