// The attributes of a job: they decide how an invocation is scheduled among
// others. They come from the caller or from annotations of the function, and go
// with the invocation and with each queue operation that its program submits. A
// plain value.
//
// The layers above attach objects of their own to a job. These objects are
// opaque here: only the layer that made an object knows its type.
#ifndef TAKT_BASE_JOB_ATTRIBUTES_H_
#define TAKT_BASE_JOB_ATTRIBUTES_H_

#include <cstdint>

#include "base/clock.h"
#include "base/cpu_set.h"

namespace takt {

class Borrower;
class Cancellation;

inline constexpr uint8_t kNormalPriority = 128;

// The reaction of a device to an operation of the job that fails on it.
struct JobFaultPolicy {
  enum class Action : uint8_t {
    kDevice = 0,  // The device's own policy decides.
    kFail = 1,
    kRetry = 2,
    kFallBack = 3,  // The CPU runs the operation.
    kRetryThenFallBack = 4,
  };
  Action action = Action::kDevice;
  // The longest that an operation may take; 0: the device's own limit.
  int64_t time_limit_ns = 0;

  friend bool operator==(const JobFaultPolicy&,
                         const JobFaultPolicy&) = default;
};

// The scheduler's record of the job.
class JobContext {
 protected:
  JobContext() = default;
  ~JobContext() = default;
};

// The caller's memory for the results of the call.
class JobResultMemory {
 protected:
  JobResultMemory() = default;
  ~JobResultMemory() = default;
};

struct JobAttributes {
  uint8_t priority = kNormalPriority;     // Higher goes first.
  int64_t deadline_ns = kInfiniteFuture;  // On the clock of NowNs().
  // The processors that its work may run on; borrowed, and outlives the
  // invocation. Null: all.
  const CpuSet* cpus = nullptr;
  uint64_t trace_id = 0;  // Of the invocation in the trace; 0: none.
  // Borrowed; outlives the invocation. Null: the scheduler has no record yet.
  JobContext* context = nullptr;
  JobFaultPolicy fault_policy = {};
  // The state of the call's cancellation. Borrowed; outlives the invocation,
  // and work that lasts longer retains it. Null: the call cannot be cancelled.
  Cancellation* cancellation = nullptr;
  // The loans of more urgent work to the call. Borrowed; outlives the
  // invocation, and work that lasts longer retains it. Null: the call neither
  // gets loans nor lends.
  Borrower* borrower = nullptr;
  // Borrowed; outlives the program of the invocation. Null: none.
  JobResultMemory* results = nullptr;
  // The largest number of bytes that the program may hold at a time
  // (memory_account.h); 0: the context's limit.
  uint64_t memory_limit = 0;
};

}  // namespace takt

#endif  // TAKT_BASE_JOB_ATTRIBUTES_H_
