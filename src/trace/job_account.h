// Accounts for the response time of each job of a trace: which part of it the
// job's own work took, and what the job waited for in the rest.
#ifndef TAKT_TRACE_JOB_ACCOUNT_H_
#define TAKT_TRACE_JOB_ACCOUNT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/event.h"
#include "trace/trace.h"

namespace takt::trace {

// What a moment of a job's response time was used for. If several apply, the
// first of them counts.
enum class TimeUse : uint8_t {
  kOwnWork,       // Work of the job ran on a thread, or on a core.
  kReleasedLate,  // The job was due, and its release came later.
  kJobBefore,     // The job was released, and the one before it had not ended.
  kOtherWork,     // Work of other streams or calls ran.
  kNoWork,        // No recorded work ran.
};
inline constexpr size_t kTimeUseCount = 5;

// Such as "own_work".
const char* TimeUseName(TimeUse use);

// Work that ran while the job waited.
struct OtherWork {
  std::string name;  // The stream, or the function; empty: not known.
  int64_t time_ns = 0;
};

// A kernel of the job, and what it usually takes.
struct SlowWork {
  std::string name;
  int64_t time_ns = 0;    // The longest span of this job.
  int64_t median_ns = 0;  // Of all spans of that kernel in the trace.
};

struct JobAccount {
  uint16_t track = 0;     // The stream's.
  uint64_t sequence = 0;  // Releases of the stream before it.
  EventKind outcome = EventKind::kJobMet;
  int64_t origin_ns = 0;  // When it was due.
  int64_t end_ns = 0;
  int64_t deadline_ns = INT64_MAX;  // INT64_MAX: none.
  std::array<int64_t, kTimeUseCount> use_ns{};
  std::vector<OtherWork> others;  // The most time first.
  SlowWork slowest;  // The span that exceeds its kernel's median the most.
  uint64_t operation_count = 0;  // Kernels and transfers of the job.

  int64_t response_ns() const { return end_ns - origin_ns; }
  int64_t used_ns(TimeUse use) const {
    return use_ns[static_cast<size_t>(use)];
  }
  bool is_late() const {
    return outcome == EventKind::kJobMissed ||
           outcome == EventKind::kJobDropped;
  }
};

struct JobAccounts {
  std::vector<JobAccount> jobs;  // That have ended, in order of their end.
  // Jobs without an account, because the trace contradicts itself so much that
  // accounting for all would take too long.
  uint64_t skipped_count = 0;
  // Jobs without one, because events of their time are lost.
  uint64_t incomplete_count = 0;
};

// Takes time in proportion to the events, times their logarithm.
JobAccounts AccountForJobs(const Trace& trace);

}  // namespace takt::trace

#endif  // TAKT_TRACE_JOB_ACCOUNT_H_
