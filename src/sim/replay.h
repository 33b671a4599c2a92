// Replays a recorded run in virtual time: the same releases and durations, on
// as many cores, decided by a policy. The result differs by the scheduling, and
// by what the simulator does not model of the machine.
//
// Method: each stream becomes a program of its typical job: its operations one
// after the other, each of which takes the median of what it took, over one
// core or several; the rest of the fastest jobs' response is an operation of
// its own, "(overhead)". A job takes as much more or less as its recorded work
// was. A stream that released its next job when one was done does so again.
#ifndef TAKT_SIM_REPLAY_H_
#define TAKT_SIM_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/recorded_run.h"
#include "sim/simulation.h"
#include "sim/workload.h"

namespace takt::sim {

struct ReplayStream {
  std::string name;
  bool is_closed = false;  // Released its next job when one was done.
  int64_t period_ns = 0;   // 0: none that can be seen.
  // After the release: as recorded, or else the period. kInfiniteFuture: none.
  int64_t deadline_ns = kInfiniteFuture;
  // As recorded.
  uint64_t job_count = 0;
  uint64_t missed_count = 0;
  std::vector<int64_t> responses_ns;  // Ascending.
};

struct Replay {
  Workload workload;  // Its times begin at 0.
  int64_t length_ns = 0;
  std::vector<ReplayStream> streams;  // As the workload's.
};

// `core_count` 0: as many as the run had. INVALID_ARGUMENT for a trace without
// jobs that ended, or without what they ran.
absl::StatusOr<Replay> MakeReplay(const RecordedRun& run, uint32_t core_count);

// The recorded run beside the simulated one, a line a stream.
std::string ReplayTable(const Replay& replay, const Report& report);
std::string ReplayJson(const Replay& replay, const Report& report);

}  // namespace takt::sim

#endif  // TAKT_SIM_REPLAY_H_
