// A Divergence measures how far the execution differs from the plan: actual
// minus planned starts and ends of operations.
//
// Memory: the constructor allocates all of it; Add() allocates nothing.
// Thread-safety: none.
#ifndef TAKT_FOLLOW_DIVERGENCE_H_
#define TAKT_FOLLOW_DIVERGENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/histogram.h"

namespace takt::follow {

// One operation, in ns; negative: too early.
struct DivergenceSummary {
  uint64_t count = 0;
  int64_t min = 0;
  int64_t max = 0;
  int64_t q50 = 0;  // Over the last Divergence::kKept.
  int64_t q99 = 0;
};

class Divergence {
 public:
  // Enough samples for a 99 % quantile; they take 1 KiB for each operation.
  static constexpr uint32_t kKept = 128;

  explicit Divergence(size_t operation_count = 0);

  size_t operation_count() const { return operations_.size(); }
  void Add(uint32_t operation, int64_t start_error_ns, int64_t end_error_ns);

  DivergenceSummary starts(uint32_t operation) const {
    return Summarize(operations_[operation].starts);
  }
  DivergenceSummary ends(uint32_t operation) const {
    return Summarize(operations_[operation].ends);
  }
  // Lateness of all operations; early ones count as 0.
  const Histogram& late_starts() const { return late_starts_; }
  const Histogram& late_ends() const { return late_ends_; }

 private:
  struct Errors {
    uint64_t count = 0;
    int64_t min = 0;
    int64_t max = 0;
    int32_t last[kKept];  // A ring; clamped to 2 s.
  };
  struct OperationErrors {
    Errors starts;
    Errors ends;
  };
  static void AddTo(Errors* errors, int64_t error_ns);
  static DivergenceSummary Summarize(const Errors& errors);

  std::vector<OperationErrors> operations_;
  Histogram late_starts_;
  Histogram late_ends_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_DIVERGENCE_H_
