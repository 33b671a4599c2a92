// The kernel's scheduling attributes of the calling thread. glibc 2.36 has no
// functions for them, and the kernel's header conflicts with <sched.h>.
#ifndef TAKT_BASE_THREAD_ATTRIBUTES_H_
#define TAKT_BASE_THREAD_ATTRIBUTES_H_

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace takt {

// The kernel's struct sched_attr.
struct ThreadAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns;  // The slice of an ordinary thread.
  uint64_t deadline_ns;
  uint64_t period_ns;
};

// The errno of a refusal; 0: none.
inline int ReadThreadAttributes(ThreadAttributes* attributes) {
  return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0
             ? 0
             : errno;
}

inline int WriteThreadAttributes(ThreadAttributes attributes) {
  attributes.size = sizeof(attributes);
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}

}  // namespace takt

#endif  // TAKT_BASE_THREAD_ATTRIBUTES_H_
