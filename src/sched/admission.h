// Admission: whether a stream's jobs will be in time, answered with numbers
// before anything of it runs.
//
//   will fit   every job is in time, beside all streams promised so far, if
//              nothing takes longer than its 99 % quantile and the jobs of a
//              stream are a period apart
//   might not  not known; jobs may still be in time
//   cannot     not even alone at its fastest, or not with this load
//
// Method: a bound on the response, after Graham ("Bounds on Multiprocessing
// Timing Anomalies", SIAM J. Appl. Math. 1969) and its use for graphs of
// operations with deadlines (Melani et al., "Response-Time Analysis of
// Conditional DAG Tasks in Multiprocessor Systems", ECRTS 2015). While an
// operation of a job waits, the places that it could have are busy with work of
// promised streams, or with a tile of less urgent work that is yielding.
// So the longest path, plus the work of promised jobs whose times touch this
// one's over the fewest places, plus a tile for each operation that starts
// among them, is never exceeded. An operation counts at its slowest
// alternative, because the scheduler may choose it. The bound is safe, not
// tight: it is for light loads with hard promises.
//
// Pure functions.
#ifndef TAKT_SCHED_ADMISSION_H_
#define TAKT_SCHED_ADMISSION_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "sched/cost_model.h"
#include "sched/job_program.h"
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
  // Why, in words: which number missed which.
  std::string reason;
  int64_t deadline_ns = 0;
  // No job is done sooner than this, nor later than that (kInfiniteFuture: no
  // bound is known). The guard is part of the bound.
  int64_t response_least_ns = 0;
  int64_t response_bound_ns = kInfiniteFuture;
  // Resource time asked for each second over that which there is, in
  // millionths, at the cheapest: of the promised streams, and with this one.
  int64_t load_before_ppm = 0;
  int64_t load_after_ppm = 0;
};

// `speeds_permille` is by pool. `promised` are the streams whose promises have
// to be kept.
AdmissionReport Assess(const AdmissionTask& candidate,
                       absl::Span<const AdmissionTask> promised,
                       const CostModel& costs,
                       absl::Span<const uint32_t> speeds_permille);

}  // namespace takt::sched

#endif  // TAKT_SCHED_ADMISSION_H_
