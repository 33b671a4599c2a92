// Makes a first schedule in one pass: the operation with the longest path to
// the end is next, on the alternative where it ends earliest (after Topcuoglu,
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
  // The random share of a priority; 0: none.
  double noise = 0;
  // The weight of an alternative's work (its duration times its machines,
  // spread over all machines) beside its end. 0: the earliest end alone.
  double work_weight = 0;
  // Whether an operation may go into a hole between others.
  bool fill_holes = true;
  // Of NowNs(): a schedule that is not complete then has the makespan kGivenUp.
  int64_t deadline_ns = kInfiniteFuture;
};
inline constexpr int64_t kGivenUp = std::numeric_limits<int64_t>::max();

// `problem` is valid. `random` is used only with noise.
Schedule MakeListSchedule(const Problem& problem,
                          const ListScheduleOptions& options, Random& random);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_LIST_SCHEDULE_H_
