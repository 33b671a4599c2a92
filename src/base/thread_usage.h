// What the kernel has counted for a thread: its time on a processor, the time
// that it was ready and had none, and its page faults.
#ifndef TAKT_BASE_THREAD_USAGE_H_
#define TAKT_BASE_THREAD_USAGE_H_

#include <cstdint>

#include "absl/types/optional.h"

namespace takt {

struct ThreadUsage {
  uint64_t run_ns = 0;
  uint64_t run_queue_ns = 0;  // Ready, without a processor.
  uint64_t run_count = 0;
  uint64_t minor_fault_count = 0;
  uint64_t major_fault_count = 0;
};

// Of a thread of this process by the kernel's number; 0: the calling one. None
// if there is no such thread, or the kernel does not count.
absl::optional<ThreadUsage> ReadThreadUsage(uint64_t thread_id);

}  // namespace takt

#endif  // TAKT_BASE_THREAD_USAGE_H_
