// ResourceWaits counts the grants of exclusive resources, such as an NPU, to
// this thread, and the time that the thread waited for them. The measured costs
// of dispatches do not include these waits.
//
// Thread-safety: each thread has counts of its own.
#ifndef TAKT_CPU_RESOURCE_WAITS_H_
#define TAKT_CPU_RESOURCE_WAITS_H_

#include <cstdint>

#include "base/check.h"

namespace takt::cpu {

class ResourceWaits {
 public:
  // Both since the thread began.
  static int64_t TotalNs() { return total_ns_; }
  static uint64_t GrantCount() { return grant_count_; }

  // The owner of a resource calls this after each grant.
  static void NoteGrant(int64_t waited_ns) {
    TAKT_DCHECK(waited_ns >= 0);
    total_ns_ += waited_ns;
    ++grant_count_;
  }

 private:
  static inline thread_local int64_t total_ns_ = 0;
  static inline thread_local uint64_t grant_count_ = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_RESOURCE_WAITS_H_
