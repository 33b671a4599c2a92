// RecentRuns knows what ran on the scheduler's resources lately, and so what
// was beside a run that has just ended.
//
// Thread-safety: none. Allocates: never.
#ifndef TAKT_SCHED_RECENT_RUNS_H_
#define TAKT_SCHED_RECENT_RUNS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "sched/cost_model.h"

namespace takt::sched {

// A run of an alternative on `count` resources.
struct KernelRun {
  uint32_t operation = 0;  // Its record's index.
  KernelId kernel = 0;
  uint32_t alternative = 0;
  uint32_t count = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

class RecentRuns {
 public:
  void Add(const KernelRun& run) {
    runs_[added_ % kSize] = run;
    ++added_;
  }
  // Calls `visit` for all runs that ended after `begin_ns`, the latest first.
  // False if there may have been more.
  template <typename Visit>
  bool VisitSince(int64_t begin_ns, const Visit& visit) const {
    for (size_t i = 1; i <= kSize; ++i) {
      if (i > added_) return true;
      const KernelRun& run = runs_[(added_ - i) % kSize];
      if (run.end_ns <= begin_ns) return true;
      visit(run);
    }
    return false;
  }

 private:
  // A run of several milliseconds beside runs of a tenth of one; 2 KiB.
  static constexpr size_t kSize = 64;

  std::array<KernelRun, kSize> runs_;
  size_t added_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_RECENT_RUNS_H_
