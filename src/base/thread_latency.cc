#include "base/thread_latency.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace takt {
namespace {

// The kernel's struct sched_attr. glibc 2.36 has none, and the kernel's header
// conflicts with <sched.h>.
struct Attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns;  // The slice of an ordinary thread.
  uint64_t deadline_ns;
  uint64_t period_ns;
};

// Reads those of the calling thread.
bool Read(Attributes* attributes) {
  return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0;
}

bool IsRealTime(const Attributes& attributes) {
  return attributes.policy == SCHED_FIFO || attributes.policy == SCHED_RR ||
         attributes.policy == SCHED_DEADLINE;
}

void Write(Attributes attributes) {
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

bool RequestLowLatency() {
  Attributes attributes{};
  if (!Read(&attributes)) return false;
  if (IsRealTime(attributes)) return true;
  if (attributes.policy != SCHED_OTHER) return false;
  // The kernel may gather the wake-ups of an ordinary thread within 50 us.
  prctl(PR_SET_TIMERSLACK, 1);
  // One after the other, as the kernel may refuse the second.
  attributes.runtime_ns = static_cast<uint64_t>(kLowLatencySliceNs);
  Write(attributes);
  attributes.nice = std::max(attributes.nice + kLowLatencyNice, -20);
  Write(attributes);
  Attributes granted{};
  // Kernels before 6.12 accept the slice, but have none.
  return Read(&granted) && granted.runtime_ns != 0 &&
         granted.runtime_ns <= static_cast<uint64_t>(kLowLatencySliceNs);
}

}  // namespace takt
