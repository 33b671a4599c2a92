// Computes a bound of the response of each stream's jobs under the online
// policy (job-shop), or the reason why there is none.
//
// Method: a fixed point, as for tasks of fixed priority on one processor
// (Joseph and Pandya, "Finding Response Times in a Real-Time System", The
// Computer Journal 29, 1986), with Graham's argument for graphs on several
// ("Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 1969; for
// graphs with deadlines: Melani et al., "Response-Time Analysis of Conditional
// DAG Tasks in Multiprocessor Systems", ECRTS 2015): while an operation of the
// job waits, the places that it could have are busy with what goes before it,
// or with less urgent work that has not yielded yet. So the response is
// no longer than
//   the job's longest path, each operation at its slowest alternative,
//   + the work of all jobs that are as urgent or more and touch the window,
//     over the fewest places that an operation of it has,
//   + for each operation that starts meanwhile, the longest time for which
//     less urgent work keeps a resource: a tile, if admission has promised this
//     stream that it will fit; else a whole operation, since one that is
//     expected to end soon is waited for.
// Jobs of a stream that touch the window are counted with its own response and
// release jitter (for chains, that of what they follow: Tindell and Clark,
// "Holistic Schedulability Analysis", Microprocessing and Microprogramming 40,
// 1994). Durations are 99 % quantiles: the bound holds as long as no operation
// takes longer, no resource is lost and none slows down. A job that waits
// longer than the aging time counts as urgent.
//
// The bound is safe, not tight. Pure functions.
#ifndef TAKT_PLAN_RESPONSE_ANALYSIS_H_
#define TAKT_PLAN_RESPONSE_ANALYSIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/workload.h"
#include "sched/scheduler.h"

namespace takt::plan {

struct ResponseBound {
  std::string stream;
  int64_t deadline_ns = kInfiniteFuture;
  // From the release; in a chain from that of its first. kInfiniteFuture: there
  // is no bound, and `reason` says why.
  int64_t bound_ns = kInfiniteFuture;
  // The least response: of a job that runs alone, at its fastest, by 99 %
  // quantiles.
  int64_t least_ns = 0;
  // The longest wait for less urgent work at each start of an operation.
  int64_t blocking_ns = 0;
  std::string reason;

  bool has_bound() const { return bound_ns != kInfiniteFuture; }
};

// The bounds by stream. FAILED_PRECONDITION for a workload without programs;
// else an error of the scheduler.
absl::StatusOr<std::vector<ResponseBound>> AnalyseResponses(
    const Workload& workload, const sched::SchedulerOptions& options = {});

}  // namespace takt::plan

#endif  // TAKT_PLAN_RESPONSE_ANALYSIS_H_
