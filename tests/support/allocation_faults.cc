#include "tests/support/allocation_faults.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace takt {
namespace {

thread_local bool is_armed = false;
thread_local bool does_go_on = false;
thread_local bool was_hit = false;
thread_local int64_t left = 0;

}  // namespace

AllocationFault::AllocationFault(int64_t first, bool goes_on) {
  left = first;
  does_go_on = goes_on;
  was_hit = false;
  is_armed = true;
}

AllocationFault::~AllocationFault() { is_armed = false; }

bool AllocationFault::is_hit() { return was_hit; }

bool AllocationFault::Hits() {
  if (!is_armed || left-- > 0 || (was_hit && !does_go_on)) return false;
  was_hit = true;
  return true;
}

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
