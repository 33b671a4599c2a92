// Explains why jobs were late: what their response time was used for, beside
// what the jobs of that stream usually use it for, which part of that is the
// cause, and what would avoid it.
#ifndef TAKT_TRACE_EXPLANATION_H_
#define TAKT_TRACE_EXPLANATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/job_account.h"
#include "trace/trace.h"

namespace takt::trace {

struct ExplainedJob {
  JobAccount account;
  // The use of time that exceeds the usual one the most.
  TimeUse cause = TimeUse::kOwnWork;
  std::string reason;  // One sentence.
  std::string advice;  // One sentence; empty: none.
};

struct ExplainedStream {
  std::string name;
  uint64_t job_count = 0;  // Jobs that have ended.
  uint64_t late_count = 0;
  // Medians over the jobs that were done in time, or over all if none was.
  int64_t usual_response_ns = 0;
  std::array<int64_t, kTimeUseCount> usual_ns{};
  int64_t usual_operation_count = 0;
  // How many late jobs have each cause.
  std::array<uint64_t, kTimeUseCount> cause_count{};
  // The late jobs that took the longest, the longest first; if none is late,
  // the slowest job.
  std::vector<ExplainedJob> jobs;
};

struct Explanation {
  bool is_simulated = false;
  uint64_t lost_count = 0;               // Events of the trace.
  uint64_t skipped_count = 0;            // Jobs without an account.
  uint64_t incomplete_count = 0;         // Jobs whose events are lost.
  std::vector<ExplainedStream> streams;  // In the trace's order.
};

// Of each stream at most `job_count_max` jobs are explained one by one.
Explanation Explain(const Trace& trace, size_t job_count_max);

std::string ExplanationText(const Explanation& explanation);
std::string ExplanationJson(const Explanation& explanation);

}  // namespace takt::trace

#endif  // TAKT_TRACE_EXPLANATION_H_
