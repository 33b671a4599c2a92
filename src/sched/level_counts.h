// Counts operations by their urgency: how many are at least as urgent as a
// level. A Fenwick tree (Fenwick, Software: Practice and Experience 1994), so
// each call takes some ten steps and allocates nothing.
#ifndef TAKT_SCHED_LEVEL_COUNTS_H_
#define TAKT_SCHED_LEVEL_COUNTS_H_

#include <cstdint>

#include "base/check.h"
#include "sched/policy.h"

namespace takt::sched {

class LevelCounts {
 public:
  void Add(uint32_t level) {
    TAKT_DCHECK(level < kLevelCount);
    for (uint32_t i = level + 1; i <= kLevelCount; i += i & -i) ++sums_[i];
  }
  // One was added before.
  void Remove(uint32_t level) {
    TAKT_DCHECK(level < kLevelCount);
    for (uint32_t i = level + 1; i <= kLevelCount; i += i & -i) {
      TAKT_CHECK(sums_[i] > 0);
      --sums_[i];
    }
  }
  // Those of the level and of more urgent ones.
  uint32_t CountUpTo(uint32_t level) const {
    TAKT_DCHECK(level < kLevelCount);
    uint32_t count = 0;
    for (uint32_t i = level + 1; i > 0; i -= i & -i) count += sums_[i];
    return count;
  }
  uint32_t count() const { return sums_[kLevelCount]; }

 private:
  static_assert((kLevelCount & (kLevelCount - 1)) == 0);  // count() needs it.

  // Element i is the sum of the last (i & -i) levels below i.
  uint32_t sums_[kLevelCount + 1] = {};
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_LEVEL_COUNTS_H_
