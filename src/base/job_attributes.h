// How an invocation stands among others: what a caller, or an annotation of
// the function, asks of the scheduler. Travels with the invocation, and with
// each queue operation that its program submits. A value; copying copies.
#ifndef TAKT_BASE_JOB_ATTRIBUTES_H_
#define TAKT_BASE_JOB_ATTRIBUTES_H_

#include <cstdint>

#include "base/clock.h"
#include "base/cpu_set.h"

namespace takt {

namespace shop {
class Job;
}  // namespace shop

class Cancellation;
namespace hal {
class ResultMemory;
}  // namespace hal

inline constexpr uint8_t kNormalPriority = 128;

// What is done when an exclusive unit (an NPU) fails at work of the job.
struct JobFaultPolicy {
  enum class Answer : uint8_t {
    kDevice = 0,  // What the device does.
    kFail = 1,
    kRetry = 2,
    kFallBack = 3,  // The CPU does it.
    kRetryThenFallBack = 4,
  };
  Answer answer = Answer::kDevice;
  int64_t time_limit_ns = 0;  // Of an operation; 0: the device's.

  friend bool operator==(const JobFaultPolicy&,
                         const JobFaultPolicy&) = default;
};

struct JobAttributes {
  uint8_t priority = kNormalPriority;     // Higher goes first.
  int64_t deadline_ns = kInfiniteFuture;  // Of NowNs().
  // Where its work may run; borrowed, and outlives the invocation. Null: not
  // said.
  const CpuSet* cpus = nullptr;
  uint64_t trace_id = 0;  // Of the invocation, in the trace; 0: none.
  // What the job shop knows it as; borrowed, and outlives the invocation. Null:
  // nothing in particular.
  shop::Job* shop_job = nullptr;
  JobFaultPolicy faults = {};
  // Says whether the call has been given up. Borrowed; it outlives the
  // invocation, and work that lasts longer keeps it. Null: it cannot be.
  Cancellation* cancellation = nullptr;
  // Memory of the caller's for results; borrowed, and outlives the invocation's
  // program. Null: none.
  hal::ResultMemory* results = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_JOB_ATTRIBUTES_H_
