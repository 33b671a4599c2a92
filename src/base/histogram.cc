#include "base/histogram.h"

namespace takt {

void Histogram::Add(int64_t value) {
  value = std::max<int64_t>(value, 0);
  ++count_;
  max_ = std::max(max_, value);
  ++buckets_[BucketOf(static_cast<uint64_t>(value))];
}

uint32_t Histogram::BucketOf(uint64_t value) {
  if (value < (1u << kBits)) return static_cast<uint32_t>(value);
  const auto exponent = static_cast<uint32_t>(63 - __builtin_clzll(value));
  if (exponent >= kExponentMax) return kBucketCount - 1;
  const uint32_t half = 1u << (kBits - 1);
  // The kBits highest bits, the first of which is always 1.
  const auto top = static_cast<uint32_t>(value >> (exponent - kBits + 1));
  return (1u << kBits) + (exponent - kBits) * half + (top - half);
}

int64_t Histogram::MiddleOf(uint32_t bucket) {
  if (bucket < (1u << kBits)) return bucket;
  const uint32_t half = 1u << (kBits - 1);
  const uint32_t above = bucket - (1u << kBits);
  const uint32_t shift = above / half + 1;
  const int64_t low = static_cast<int64_t>(half + above % half) << shift;
  return low + (int64_t{1} << shift) / 2;
}

int64_t Histogram::Quantile(uint32_t permille) const {
  if (count_ == 0) return 0;
  // The rank of the value, from 1 on, rounded up.
  const uint64_t rank = std::max<uint64_t>(1, (count_ * permille + 999) / 1000);
  uint64_t seen = 0;
  for (uint32_t bucket = 0; bucket < kBucketCount; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(MiddleOf(bucket), max_);
  }
  return max_;
}

}  // namespace takt
