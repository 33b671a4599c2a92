#include "follow/divergence.h"

#include <algorithm>
#include <array>

namespace takt::follow {

Divergence::Divergence(size_t operation_count) : operations_(operation_count) {}

void Divergence::AddTo(Errors* errors, int64_t error_ns) {
  if (errors->count == 0) errors->min = errors->max = error_ns;
  errors->min = std::min(errors->min, error_ns);
  errors->max = std::max(errors->max, error_ns);
  errors->last[errors->count % kKept] =
      static_cast<int32_t>(std::clamp<int64_t>(error_ns, INT32_MIN, INT32_MAX));
  ++errors->count;
}

void Divergence::Add(uint32_t operation, int64_t start_error_ns,
                     int64_t end_error_ns) {
  AddTo(&operations_[operation].starts, start_error_ns);
  AddTo(&operations_[operation].ends, end_error_ns);
  late_starts_.Add(start_error_ns);
  late_ends_.Add(end_error_ns);
}

DivergenceSummary Divergence::Summarize(const Errors& errors) {
  DivergenceSummary summary;
  summary.count = errors.count;
  summary.min = errors.min;
  summary.max = errors.max;
  const auto kept =
      static_cast<uint32_t>(std::min<uint64_t>(errors.count, kKept));
  if (kept == 0) return summary;
  std::array<int32_t, kKept> sorted;
  std::copy_n(errors.last, kept, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + kept);
  const auto rank = [&](uint32_t percent) {
    return sorted[std::max(1u, (kept * percent + 99) / 100) - 1];
  };
  summary.q50 = rank(50);
  summary.q99 = rank(99);
  return summary;
}

}  // namespace takt::follow
