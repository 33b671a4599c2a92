// One job of a stream: one release, and the call that follows it.
#ifndef TAKT_STREAM_STREAM_JOB_H_
#define TAKT_STREAM_STREAM_JOB_H_

#include <cstdint>

#include "base/clock.h"
#include "sched/job.h"

namespace takt::stream {

// The event that releases a job.
enum class Arrival : uint8_t {
  kPeriodic,  // The clock: the start time, and each period after it.
  kInput,     // An input.
  kClosed,    // The start time, then the end of the stream's previous job.
  kAfter,     // The end of a job of another stream.
};

struct StreamJob {
  uint64_t sequence = 0;  // Earlier releases of this stream.
  // When the job was due; in a chain, when the chain's first job was.
  int64_t origin_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;
  // When the stream expected its end at the latest (99 %), as of its release;
  // kInfiniteFuture: it could not tell.
  int64_t predicted_end_ns = kInfiniteFuture;
  int64_t begin_ns = 0;         // When its call was issued; 0: never.
  int64_t end_ns = 0;           // 0: it has not ended, or never began.
  uint64_t input_sequence = 0;  // Earlier inputs than the one it took.
  sched::JobOutcome outcome = sched::JobOutcome::kMet;
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_STREAM_JOB_H_
