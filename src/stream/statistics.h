// Counts of what happened to a stream's releases and jobs.
//
// Thread-safety: none.
#ifndef TAKT_STREAM_STATISTICS_H_
#define TAKT_STREAM_STATISTICS_H_

#include <cstdint>

#include "base/histogram.h"
#include "stream/stream_job.h"

namespace takt::stream {

struct StreamCounts {
  uint64_t released_count = 0;
  uint64_t met_count = 0;
  uint64_t missed_count = 0;
  uint64_t dropped_count = 0;
  uint64_t failed_count = 0;
  uint64_t starved_count = 0;    // Releases without an input.
  uint64_t overrun_count = 0;    // Releases during another job.
  uint64_t skipped_count = 0;    // Periods that passed without a release.
  uint64_t predicted_count = 0;  // Jobs that are done and had a prediction.
  uint64_t kept_count = 0;       // Of those, the ones that kept to it.
  uint64_t lenient_count = 0;    // Jobs that began and were allowed to miss.
  // Jobs at whose end the stream's window had too few jobs in time.
  uint64_t broken_window_count = 0;
};

// A copy at one moment.
struct StreamStatistics {
  StreamCounts counts;
  Quantiles response;       // From the origin to the end; jobs that are done.
  Quantiles begin_delay;    // From the release to the call.
  Quantiles release_error;  // From the planned release to the timer's.
  Quantiles predicted_response;  // From the origin to the predicted end.
};

class StatisticsRecorder {
 public:
  const StreamCounts& counts() const { return counts_; }

  // Returns the sequence number of the release.
  uint64_t CountRelease(bool is_overrun);
  void CountStarved() { ++counts_.starved_count; }
  void CountTimer(int64_t error_ns, uint64_t skipped_count);
  void CountBegin(int64_t delay_ns, bool may_miss) {
    begin_delay_.Add(delay_ns);
    if (may_miss) ++counts_.lenient_count;
  }
  void CountBrokenWindow() { ++counts_.broken_window_count; }
  // `job` has an outcome.
  void CountEnd(const StreamJob& job);

  StreamStatistics Summarize() const;

 private:
  uint64_t ended_count() const;
  void CountPrediction(const StreamJob& job);

  StreamCounts counts_;
  Histogram response_;
  Histogram begin_delay_;
  Histogram release_error_;
  Histogram predicted_response_;
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_STATISTICS_H_
