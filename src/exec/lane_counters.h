// LaneCounters counts something for each lane, in one word, so that one load
// says whether there is any in a range of lanes.
//
// A lane has eight bits. A count above 255 carries over into the next lane and
// makes that look occupied: readers use the counts as hints, and a few hundred
// threads at once in one lane are beyond what an executor is made for.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_EXEC_LANE_COUNTERS_H_
#define TAKT_EXEC_LANE_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "base/check.h"
#include "exec/lane_mask.h"

namespace takt::exec {

class LaneCounters {
 public:
  void Add(uint32_t lane) {
    TAKT_DCHECK(lane < kLaneCount);
    counts_.fetch_add(One(lane), std::memory_order_seq_cst);
  }
  // Undoes one Add() of the same lane.
  void Remove(uint32_t lane) {
    const uint64_t before =
        counts_.fetch_sub(One(lane), std::memory_order_seq_cst);
    TAKT_DCHECK(before >= One(lane));
    static_cast<void>(before);
  }
  // Whether a lane below `lane` has a count above 0.
  bool HasBelow(uint32_t lane) const {
    return (counts_.load(std::memory_order_seq_cst) & (One(lane) - 1)) != 0;
  }
  // Whether `lane` or a lane below it has a count above 0. The answer is a
  // hint: it orders nothing.
  bool HasUpTo(uint32_t lane) const {
    TAKT_DCHECK(lane < kLaneCount);
    return counts_.load(std::memory_order_relaxed)
               << (kLaneCount - 1 - lane) * kBitsPerLane !=
           0;
  }

 private:
  static constexpr uint32_t kBitsPerLane = 8;
  static_assert(kLaneCount * kBitsPerLane <= 64);
  static constexpr uint64_t One(uint32_t lane) {
    return uint64_t{1} << lane * kBitsPerLane;
  }

  std::atomic<uint64_t> counts_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_LANE_COUNTERS_H_
