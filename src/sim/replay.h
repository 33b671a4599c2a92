// Replays a recorded run in virtual time under a policy: with the same releases
// and durations, on the same number of cores. The result differs by the
// scheduling, and by properties of the machine that the simulator does not
// model.
//
// Method: each stream becomes a program that models its typical job. The
// program runs the job's operations one after the other; each takes its median
// duration, on one core or several. The rest of the response of the fastest
// jobs is an operation of its own, "(overhead)". Each job has a duration factor
// by its recorded work. A stream that released its next job when one was done
// does so in the replay.
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

// `core_count` 0: the number of the recorded run. INVALID_ARGUMENT for a trace
// without jobs that ended, or without their operations.
absl::StatusOr<Replay> MakeReplay(const RecordedRun& run, uint32_t core_count);

// A table of the recorded and the simulated run, with a line for each stream.
std::string ReplayTable(const Replay& replay, const Report& report);
std::string ReplayJson(const Replay& replay, const Report& report);

}  // namespace takt::sim

#endif  // TAKT_SIM_REPLAY_H_
