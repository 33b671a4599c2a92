// How far what happened is from what was planned: when operations started and
// ended, less when they should have.
//
// Memory: all of it is taken at first; adding allocates nothing.
// Thread-safety: none.
#ifndef TAKT_FOLLOW_DIVERGENCE_H_
#define TAKT_FOLLOW_DIVERGENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/histogram.h"

namespace takt::follow {

// Of one operation, in ns; negative: too early.
struct DivergenceSummary {
  uint64_t count = 0;  // All of them.
  int64_t min = 0;     // Of all.
  int64_t max = 0;
  int64_t q50 = 0;  // Of the last Divergence::kKept.
  int64_t q99 = 0;
};

class Divergence {
 public:
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
  // Of all operations: how late; what is early counts as 0.
  const Histogram& late_starts() const { return late_starts_; }
  const Histogram& late_ends() const { return late_ends_; }

 private:
  struct Errors {
    uint64_t count = 0;
    int64_t min = 0;
    int64_t max = 0;
    int32_t last[kKept];  // A ring; at most 2 s.
  };
  struct Operation {
    Errors starts;
    Errors ends;
  };
  static void AddTo(Errors* errors, int64_t error_ns);
  static DivergenceSummary Summarize(const Errors& errors);

  std::vector<Operation> operations_;
  Histogram late_starts_;
  Histogram late_ends_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_DIVERGENCE_H_
