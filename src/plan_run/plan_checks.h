// Checks of a plan against the streams to which it is bound on this machine.
// Pure functions.
#ifndef TAKT_PLAN_RUN_PLAN_CHECKS_H_
#define TAKT_PLAN_RUN_PLAN_CHECKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "plan/plan.h"

namespace takt::plan_run {

// How the jobs of a bound stream are released.
enum class ReleasedBy : uint8_t {
  kRun,          // By the plan run, which makes the calls.
  kClock,        // By the stream itself, once a period.
  kOtherStream,  // By the end of another stream's job.
};

// A stream of the plan as it is bound on this machine.
struct BoundStream {
  ReleasedBy released_by = ReleasedBy::kRun;
  int64_t period_ns = 0;  // kClock.
  std::string function;   // The name of one of its functions.
  // The content hash of its functions' module; "" if the module has none.
  std::string content_hash;
  // Bit i: the context of its functions has a device of NPU pool i.
  uint32_t npu_pools = 0;
};
// By the name of the stream in the plan.
using BoundStreams = HashMap<std::string, BoundStream>;

// INVALID_ARGUMENT that names the stream.
absl::Status StreamError(absl::string_view stream, absl::string_view reason);

// Returns the plan with a stream for each job: a job that does not come from a
// workload gets a stream of its own.
plan::Plan WithStreams(plan::Plan plan);
// The release of the first job of `stream`; -1: the plan has no such job.
int64_t FirstRelease(const plan::Plan& plan, const std::string& stream);

// The functions below expect the plan of WithStreams().

// Checks that each stream of the plan is bound, and that a stream which the run
// does not release has its releases where the plan has them.
absl::Status CheckStreams(const plan::Plan& plan, const BoundStreams& bound);
// Checks that each operation is planned for the module to which its stream is
// bound. Expects a plan that CheckStreams() accepts.
absl::Status CheckModules(const plan::Plan& plan, const BoundStreams& bound);
// Checks that each operation that is planned for an NPU belongs to a context
// with a device of that NPU. The resources of `plan` are the machine's.
absl::Status CheckDevices(const plan::Plan& plan, const BoundStreams& bound);
// Checks that `next` can take over from `current` at the end of a period.
absl::Status CheckTakeOver(const plan::Plan& current, const plan::Plan& next,
                           const BoundStreams& bound);

}  // namespace takt::plan_run

#endif  // TAKT_PLAN_RUN_PLAN_CHECKS_H_
