#include "base/memory_source.h"

#include <cstdlib>

#include "base/pages.h"

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
  return MapPages(byte_length);
}

void FreeToSystem(void* data, size_t byte_length, size_t alignment) {
  if (IsMapped(byte_length, alignment)) {
    UnmapPages(data, byte_length);
  } else {
    std::free(data);
  }
}

}  // namespace takt
