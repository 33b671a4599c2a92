#include "base/memory_source.h"

#include <sys/mman.h>

#include <cstdlib>

namespace takt {
namespace {

// From here on whole pages cost little, and the heap would keep what it gets
// back.
constexpr size_t kMappedBytes = size_t{256} << 10;
constexpr size_t kPageBytes = 4096;

bool IsMapped(size_t byte_length, size_t alignment) {
  return byte_length >= kMappedBytes && alignment <= kPageBytes;
}

}  // namespace

void* AllocateFromSystem(size_t byte_length, size_t alignment) {
  if (!IsMapped(byte_length, alignment)) {
    return std::aligned_alloc(alignment, byte_length);
  }
  void* data = mmap(nullptr, byte_length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

void FreeToSystem(void* data, size_t byte_length, size_t alignment) {
  if (IsMapped(byte_length, alignment)) {
    munmap(data, byte_length);
  } else {
    std::free(data);
  }
}

}  // namespace takt
