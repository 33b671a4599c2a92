// Memory in whole pages of the system. Large memory begins where a huge page
// does, and asks for huge pages. Kernels that read and write megabytes then
// miss fewer addresses in the processor's tables. The first touch of such
// memory costs one fault for each 2 MiB instead of 512.
//
// Thread-safety: both functions may be called on any thread.
#ifndef TAKT_BASE_PAGES_H_
#define TAKT_BASE_PAGES_H_

#include <cstddef>

namespace takt {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Zeroed; nullptr if the system has no memory. Not 0 bytes. Without huge pages
// if the system has none, or does not give them on request.
void* MapPages(size_t byte_length);
void UnmapPages(void* data, size_t byte_length);

}  // namespace takt

#endif  // TAKT_BASE_PAGES_H_
