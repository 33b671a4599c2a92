#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.h"
#include "base/math.h"

namespace takt {
namespace {

void* Map(size_t byte_length) {
  void* data = mmap(nullptr, byte_length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

// At a multiple of kHugePageBytes. nullptr if there is no room for that.
void* MapAligned(size_t byte_length) {
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t used = 0;
  size_t mapped = 0;
  if (!CheckedAlignUp(byte_length, page_bytes, &used) ||
      !CheckedAdd(static_cast<size_t>(used), kHugePageBytes, &mapped)) {
    return nullptr;
  }
  auto* const data = static_cast<uint8_t*>(Map(mapped));
  if (data == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const size_t before =
      static_cast<size_t>(AlignUp(address, kHugePageBytes) - address);
  // Unmapping the ends splits no mapping in the middle, so it takes no memory.
  if (before > 0) munmap(data, before);
  munmap(data + before + used, kHugePageBytes - before);
  return data + before;
}

}  // namespace

void* MapPages(size_t byte_length) {
  TAKT_DCHECK(byte_length > 0);
  if (byte_length < kHugePageBytes) return Map(byte_length);
  void* const data = MapAligned(byte_length);
  if (data == nullptr) return Map(byte_length);
  // The pages stay small if the system refuses.
  madvise(data, byte_length, MADV_HUGEPAGE);
  return data;
}

void UnmapPages(void* data, size_t byte_length) { munmap(data, byte_length); }

}  // namespace takt
