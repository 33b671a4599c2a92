// A ReleaseCursor walks through the releases that a plan run makes itself:
// those of a single shot once, those of a cyclic plan once in each period. It
// knows no clock: callers compare the times.
//
// Thread-safety: none.
#ifndef TAKT_PLAN_RUN_RELEASE_CURSOR_H_
#define TAKT_PLAN_RUN_RELEASE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "base/clock.h"

namespace takt::plan_run {

// One release in each repetition of the plan.
struct PlannedRelease {
  int64_t offset_ns;  // After the start of the repetition.
  uint32_t job;       // Index in the plan.
};

struct NextRelease {
  int64_t release_ns;
  uint32_t job;
  uint64_t cycle;
};

class ReleaseCursor {
 public:
  ReleaseCursor() = default;
  // `period_ns` 0: a single shot. Releases of one time keep their order.
  ReleaseCursor(std::vector<PlannedRelease> releases, int64_t period_ns);

  int64_t origin_ns() const { return origin_ns_; }
  // Time 0 of the plan. Before the first Advance().
  void SetOrigin(int64_t origin_ns);
  // Nothing is released from `end_ns` on.
  void SetEnd(int64_t end_ns) { end_ns_ = end_ns; }

  // The first end of a period at or after `at_ns` and the origin; `at_ns`
  // itself for a single shot.
  int64_t EndOfPeriod(int64_t at_ns) const;

  // The next release; none: all were made.
  absl::optional<NextRelease> Next() const;
  // Next() was made.
  void Advance();

 private:
  std::vector<PlannedRelease> releases_;  // By offset.
  int64_t period_ns_ = 0;
  int64_t origin_ns_ = 0;
  int64_t end_ns_ = kInfiniteFuture;
  uint64_t cycle_ = 0;
  size_t index_ = 0;  // In releases_.
};

}  // namespace takt::plan_run

#endif  // TAKT_PLAN_RUN_RELEASE_CURSOR_H_
