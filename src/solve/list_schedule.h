// A first schedule, made in one pass: the operation with the longest path to
// the end goes next, to the alternative that ends it earliest (after Topcuoglu,
// Hariri and Wu's HEFT, IEEE TPDS 13, 2002). Fast enough for a scheduling
// window.
#ifndef TAKT_SOLVE_LIST_SCHEDULE_H_
#define TAKT_SOLVE_LIST_SCHEDULE_H_

#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "base/random.h"
#include "solve/problem.h"

namespace takt::solve {

struct ListScheduleOptions {
  // Share of a priority that is left to chance, 0 for none.
  double noise = 0;
  // What the work of an alternative counts for, its duration times its machines
  // spread over all of them, besides when it ends. 0: the earliest end alone.
  double work_weight = 0;
  // Whether an operation may go into a hole between others.
  bool fill_holes = true;
  // Of NowNs(): whoever is not done then gives up, with kGivenUp for makespan.
  int64_t deadline_ns = kInfiniteFuture;
};
inline constexpr int64_t kGivenUp = std::numeric_limits<int64_t>::max();

// `problem` is valid. `random` is used only with noise.
Schedule MakeListSchedule(const Problem& problem,
                          const ListScheduleOptions& options, Random& random);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_LIST_SCHEDULE_H_
