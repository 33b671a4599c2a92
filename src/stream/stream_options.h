// Options of streams.
#ifndef TAKT_STREAM_STREAM_OPTIONS_H_
#define TAKT_STREAM_STREAM_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/timer_service.h"
#include "sched/stream.h"
#include "stream/stream_job.h"
#include "vm/value.h"

namespace takt::runtime {
class Function;
}  // namespace takt::runtime

namespace takt::stream {

class Stream;

// Called at the end of each job, on the thread that ends it. `results` are
// empty unless the job is met or missed.
using StreamDoneCallback =
    std::function<void(const StreamJob& job, const absl::Status& status,
                       absl::Span<const vm::Value> results)>;
// Called once for a job whose deadline passes before its end.
using StreamLateCallback = std::function<void(const StreamJob& job)>;

// Which jobs a stream keeps with their inputs and results, and what it writes
// when a job is not met.
struct CaptureOptions {
  size_t job_count = 0;  // The last ones; 0: none.
  // "miss.safetensors": job 12 that is not met writes "miss-12.safetensors".
  // Empty: jobs write no files.
  std::string path;
  size_t file_count_max = 4;  // Of jobs that are not met.
  // Writes the trace beside such a file, if there is one. May be null.
  std::function<absl::Status(const std::string& path)> write_trace;
};

struct StreamOptions {
  Arrival arrival = Arrival::kPeriodic;
  int64_t period_ns = 0;  // kPeriodic: above 0.
  // kAfter: the stream whose jobs release this one's. Borrowed; the stream
  // that is made keeps it.
  Stream* after = nullptr;
  bool takes_results = false;  // The inputs are the results of `after`.

  absl::optional<int64_t> deadline_ns;  // After the origin; none: as annotated.
  sched::LatePolicy late = sched::LatePolicy::kRunOn;
  sched::Criticality criticality = sched::Criticality::kSoft;
  absl::optional<int32_t> priority;  // None: the criticality's.
  // Of each `met_window` jobs in a row, at least `met_min` must be in time; see
  // sched::MetWindow. 0: no job may miss.
  uint32_t met_window = 0;
  uint32_t met_min = 0;
  // See sched::StreamOptions. They need a scheduler.
  uint32_t share_permille = 0;
  uint32_t weight = 0;
  // Bit i of word w is CPU 64 w + i. Borrowed; empty: as annotated.
  absl::Span<const uint64_t> cpu_words;

  size_t input_queue_length = 0;  // 0: a job takes the latest input.
  size_t release_queue_length = 64;

  CaptureOptions capture;

  StreamDoneCallback on_done;  // May be null.
  StreamLateCallback on_late;  // May be null.
};

// The clock of a stream: the instance's by default; tests use one of their own.
struct StreamClock {
  std::shared_ptr<TimerService> timers;
  int64_t (*now_ns)() = &NowNs;
};

// The priority of the stream's jobs: 0 to 255 if the options are valid.
int32_t StreamPriority(const StreamOptions& options);
// The priority of jobs that may miss: at most the highest one in the lane of
// the criticality below.
int32_t LenientPriority(const StreamOptions& options);
// How long after its origin a job is due; kInfiniteFuture: never.
int64_t StreamDeadline(const runtime::Function& function,
                       const StreamOptions& options);

// INVALID_ARGUMENT, naming the function, the option and the reason.
absl::Status StreamOptionError(const runtime::Function& function,
                               absl::string_view option,
                               absl::string_view reason);
absl::Status CheckStreamOptions(const runtime::Function& function,
                                const StreamOptions& options);

}  // namespace takt::stream

#endif  // TAKT_STREAM_STREAM_OPTIONS_H_
