#include "base/thread_latency.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/thread_attributes.h"

namespace takt {
namespace {

bool IsRealTime(const ThreadAttributes& attributes) {
  return attributes.policy == SCHED_FIFO || attributes.policy == SCHED_RR ||
         attributes.policy == SCHED_DEADLINE;
}

}  // namespace

bool RequestLowLatency() {
  ThreadAttributes attributes{};
  if (ReadThreadAttributes(&attributes) != 0) return false;
  if (IsRealTime(attributes)) return true;
  if (attributes.policy != SCHED_OTHER) return false;
  // The kernel may gather the wake-ups of an ordinary thread within 50 us.
  prctl(PR_SET_TIMERSLACK, 1);
  // One after the other, as the kernel may refuse the second.
  attributes.runtime_ns = static_cast<uint64_t>(kLowLatencySliceNs);
  (void)WriteThreadAttributes(attributes);
  attributes.nice = std::max(attributes.nice + kLowLatencyNice, -20);
  (void)WriteThreadAttributes(attributes);
  ThreadAttributes granted{};
  // Kernels before 6.12 accept the slice, but have none.
  return ReadThreadAttributes(&granted) == 0 && granted.runtime_ns != 0 &&
         granted.runtime_ns <= static_cast<uint64_t>(kLowLatencySliceNs);
}

}  // namespace takt
