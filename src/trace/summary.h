// Sums up a trace: how busy each track was, the cost of the work, and the
// outcomes of each stream's jobs.
#ifndef TAKT_TRACE_SUMMARY_H_
#define TAKT_TRACE_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace takt::trace {

struct TrackSummary {
  TrackInfo track;
  uint64_t span_count = 0;
  int64_t busy_ns = 0;  // Covered by spans, however many at once.
};

// The work of one kind and name: dispatches of an export, programs of a
// function.
struct WorkSummary {
  EventKind kind = EventKind::kNone;
  std::string name;
  uint64_t count = 0;  // Spans.
  int64_t total_ns = 0;
  int64_t q50_ns = 0;
  int64_t q99_ns = 0;
  int64_t max_ns = 0;
};

struct StreamSummary {
  std::string name;
  uint64_t released = 0;
  uint64_t met = 0;
  uint64_t missed = 0;
  uint64_t dropped = 0;
  uint64_t failed = 0;
  // Response times of the jobs that were done, from release to end.
  int64_t mean_ns = 0;
  int64_t q50_ns = 0;
  int64_t q99_ns = 0;
  int64_t max_ns = 0;
};

struct Summary {
  int64_t length_ns = 0;
  uint64_t event_count = 0;
  uint64_t lost_count = 0;
  bool is_simulated = false;
  std::vector<TrackSummary> tracks;    // In the trace's order.
  std::vector<WorkSummary> work;       // The most time first.
  std::vector<StreamSummary> streams;  // In the trace's order.
};

Summary Summarize(const Trace& trace);

// The least value that is not exceeded by a share `rank` of `values`, which
// ascend; 0 for none.
int64_t Quantile(const std::vector<int64_t>& values, double rank);
// 0 for none.
int64_t Mean(const std::vector<int64_t>& values);

std::string SummaryText(const Summary& summary);
std::string SummaryJson(const Summary& summary);

}  // namespace takt::trace

#endif  // TAKT_TRACE_SUMMARY_H_
