// A RecordedRun holds the jobs of a real or simulated run, read from its trace:
// for each stream the releases of its jobs, their operations with durations,
// and their ends.
#ifndef TAKT_SIM_RECORDED_RUN_H_
#define TAKT_SIM_RECORDED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "trace/trace.h"

namespace takt::sim {

// All parts of one kernel in one queue operation of a job.
struct RecordedOperation {
  std::string kernel;
  int64_t start_ns = 0;  // Of its first part,
  int64_t end_ns = 0;    // and the end of its last.
  int64_t work_ns = 0;   // Of all parts together.
  int64_t tile_ns = 0;   // The longest part.
  uint32_t tile_count = 0;
};

struct RecordedRunJob {
  int64_t release_ns = 0;
  int64_t end_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;      // Of the trace's clock.
  std::vector<RecordedOperation> operations;  // By start.
  int64_t caller_work_ns = 0;                 // Of it, on callers' threads.

  int64_t response_ns() const { return end_ns - release_ns; }
  int64_t work_ns() const;
};

// A stream, or the calls of one function that one thread makes outside of
// streams.
struct RecordedStream {
  std::string name;
  uint8_t priority = 128;
  std::vector<RecordedRunJob> jobs;  // That were done, by release.
};

struct RecordedRun {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The number of cores that the scheduler's decisions used; without a
  // scheduler, of workers that ran work.
  uint32_t core_count = 0;
  std::vector<RecordedStream> streams;  // By their first jobs.
};

// Reads the jobs of a trace. Leaves out jobs whose begin or end is not in the
// trace.
RecordedRun ReadRun(const trace::Trace& trace);

}  // namespace takt::sim

#endif  // TAKT_SIM_RECORDED_RUN_H_
