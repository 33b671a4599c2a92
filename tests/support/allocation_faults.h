// Allocations fail on this thread, when a test says so: those of `malloc`, and
// so of `new` and of block pools. Under sanitizers, which bring a malloc of
// their own, only those of `new`. A program that names a fault has the
// allocators of allocation_faults.cc.
#ifndef TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_
#define TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_

#include <cstdint>

#define TAKT_REPLACES_MALLOC 1
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(__GLIBC__)
#undef TAKT_REPLACES_MALLOC
#define TAKT_REPLACES_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef TAKT_REPLACES_MALLOC
#define TAKT_REPLACES_MALLOC 0
#endif
#endif

namespace takt {

// While it lives, allocation number `first` of this thread fails, from 0 on,
// and those after it as well if `goes_on`.
class AllocationFault {
 public:
  explicit AllocationFault(int64_t first, bool goes_on = false);
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;
  ~AllocationFault();

  // Whether the last fault of this thread was reached.
  static bool is_hit();

  // Counts an allocation. True if it is to fail.
  static bool Hits();
};

}  // namespace takt

#endif  // TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_
