// Allocations fail on this thread, when a test says so: those of `malloc`, and
// so of `new` and of block pools. Under sanitizers, which bring a malloc of
// their own, only those of `new`. Included by one source of a test program.
#ifndef TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_
#define TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

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
  explicit AllocationFault(int64_t first, bool goes_on = false) {
    left_ = first;
    goes_on_ = goes_on;
    is_hit_ = false;
    is_armed_ = true;
  }
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;
  ~AllocationFault() { is_armed_ = false; }

  // Whether the last fault of this thread was reached.
  static bool is_hit() { return is_hit_; }

  // Counts an allocation. True if it is to fail.
  static bool Hits() {
    if (!is_armed_ || left_-- > 0 || (is_hit_ && !goes_on_)) return false;
    is_hit_ = true;
    return true;
  }

 private:
  static inline thread_local bool is_armed_ = false;
  static inline thread_local bool goes_on_ = false;
  static inline thread_local bool is_hit_ = false;
  static inline thread_local int64_t left_ = 0;
};

}  // namespace takt

#if TAKT_REPLACES_MALLOC
extern "C" {
void* __libc_malloc(std::size_t bytes);
__attribute__((visibility("default"))) void* malloc(
    std::size_t bytes) noexcept {
  return takt::AllocationFault::Hits() ? nullptr : __libc_malloc(bytes);
}
}
#else
// Not inline, as the standard demands; `new[]` calls them.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return takt::AllocationFault::Hits() ? nullptr
                                       : std::malloc(bytes != 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  void* const block = ::operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
// gcc would warn of free() where it knows of `new`.
__attribute__((noinline)) void operator delete(void* block) noexcept {
  std::free(block);
}
__attribute__((noinline)) void operator delete(void* block,
                                               std::size_t) noexcept {
  std::free(block);
}
#endif

#endif  // TAKT_TESTS_SUPPORT_ALLOCATION_FAULTS_H_
