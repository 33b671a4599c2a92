// Admission predicts, before a stream runs, whether its jobs will meet their
// deadlines, and gives the numbers.
//
//   will fit   every job is in time, and none is dropped, beside all streams
//              promised so far, if nothing takes longer than its 99 % quantile
//              and the jobs of a stream are a period apart
//   might not  not known; jobs may still be in time
//   cannot     not even alone at its fastest, or not with this load
//
// Method: a bound on the response, after Graham ("Bounds on Multiprocessing
// Timing Anomalies", SIAM J. Appl. Math. 1969) and its use for graphs of
// operations with deadlines (Melani et al., "Response-Time Analysis of
// Conditional DAG Tasks in Multiprocessor Systems", ECRTS 2015). While an
// operation of a job waits, the places that it could have are busy with work of
// promised streams, or with a tile of less urgent work that is yielding; or
// they are kept for a promised operation that needs several at once, and waits
// for such work itself. So the response never exceeds the sum of three terms:
// the longest path of the job; the work of promised jobs that overlap it in
// time, divided by the fewest places that are busy meanwhile; and a tile for
// each operation that starts meanwhile (a whole operation, if the policy lets
// none yield). An operation counts at its slowest alternative, because the
// scheduler may choose it. The bound is safe but not tight; it suits light
// loads with hard promises.
//
// Pure functions.
#ifndef TAKT_SCHED_ADMISSION_H_
#define TAKT_SCHED_ADMISSION_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "sched/cost_model.h"
#include "sched/job_program.h"
#include "sched/policy.h"
#include "sched/stream.h"

namespace takt::sched {

enum class Verdict : uint8_t { kWillFit, kMightNot, kCannot };

const char* VerdictName(Verdict verdict);

// A stream, as admission sees it.
struct AdmissionTask {
  StreamId stream = 0;
  StreamOptions options;
  const JobProgram* program = nullptr;  // nullptr: not known ahead.
  ResourceSet allowed;                  // Available, within affinity and pools.
};

struct AdmissionReport {
  Verdict verdict = Verdict::kMightNot;
  // The reason in words, with the numbers that were compared.
  std::string reason;
  int64_t deadline_ns = 0;
  // Bounds of the response: no job takes less than the least, nor more than the
  // most (kInfiniteFuture: no bound is known). The guard is part of the upper
  // bound. A later promise to another stream may raise it, up to the deadline.
  int64_t response_least_ns = 0;
  int64_t response_bound_ns = kInfiniteFuture;
  // The load in millionths: the resource time that jobs need, at their cheapest
  // alternatives, over the resource time that exists. Once of the promised
  // streams, and once with this stream.
  int64_t load_before_ppm = 0;
  int64_t load_after_ppm = 0;
};

// `speeds_permille` is by pool. `promised` are the streams whose promises have
// to be kept. A policy that does not put them first can promise nothing.
AdmissionReport Assess(const AdmissionTask& candidate,
                       absl::Span<const AdmissionTask> promised,
                       const CostModel& costs,
                       absl::Span<const uint32_t> speeds_permille,
                       const Policy& policy);

}  // namespace takt::sched

#endif  // TAKT_SCHED_ADMISSION_H_
