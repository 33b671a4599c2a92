#include "exec/job.h"

#include <cstdlib>

#include "base/check.h"
#include "base/math.h"

namespace takt::exec {

Worker::~Worker() { std::free(local_memory); }

void Worker::ReleaseLocalMemory() {
  std::free(local_memory);
  local_memory = nullptr;
  local_bytes = 0;
}

bool Worker::GrowLocalMemory(size_t bytes) {
  constexpr size_t kAlignment = 64;  // A cache line, and the widest vector.
  TAKT_DCHECK(bytes > local_bytes);
  uint64_t rounded = 0;
  if (!CheckedAlignUp(bytes, kAlignment, &rounded)) return false;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return false;
  std::free(local_memory);
  local_memory = static_cast<uint8_t*>(memory);
  local_bytes = rounded;
  return true;
}

}  // namespace takt::exec
