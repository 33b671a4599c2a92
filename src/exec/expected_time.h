// The work-stealing executor's estimates of the durations of jobs and of
// wake-ups.
#ifndef TAKT_EXEC_EXPECTED_TIME_H_
#define TAKT_EXEC_EXPECTED_TIME_H_

#include <cstdint>
#include <limits>

#include "exec/job.h"

namespace takt::exec {

// The time from a wake-up until the woken thread runs tiles: a system call, a
// context switch and the cache misses of a search. Work that ends sooner gains
// nothing from a wake-up.
inline constexpr int64_t kHelperNs = 15'000;

// The same for a thread that looks for work already.
inline constexpr int64_t kSearchingHelperNs = 2'000;

// How long `tile_count` tiles of `job` take on one thread. A job that has not
// been measured counts as one that is worth a helper.
inline int64_t ExpectedNs(const Job& job, uint64_t tile_count) {
  if (job.expected_tile_ns <= 0) return kHelperNs;
  const auto tiles = static_cast<int64_t>(tile_count);
  return job.expected_tile_ns > std::numeric_limits<int64_t>::max() / tiles
             ? std::numeric_limits<int64_t>::max()
             : job.expected_tile_ns * tiles;
}

}  // namespace takt::exec

#endif  // TAKT_EXEC_EXPECTED_TIME_H_
