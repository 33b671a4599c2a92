// Checks that a trace is consistent: exclusive resources had one user at a
// time, and effects came after their causes.
#ifndef TAKT_TRACE_CHECK_H_
#define TAKT_TRACE_CHECK_H_

#include <string>
#include <vector>

#include "trace/trace.h"

namespace takt::trace {

struct CheckResult {
  uint64_t finding_count = 0;
  std::vector<std::string> findings;  // The first of them.
};

// Looks for:
//   - two batches, or two leases, at once on an NPU;
//   - two operations of the scheduler's at once on a core or an NPU;
//   - parts of dispatches that overlap on a worker and do not nest;
//   - operations that were ready before they were issued, done before they
//     were ready, or ran before or after that;
//   - invocations that ended before they began.
// Events that may have been lost are not reported as missing.
CheckResult CheckTrace(const Trace& trace, size_t findings_max = 20);

}  // namespace takt::trace

#endif  // TAKT_TRACE_CHECK_H_
