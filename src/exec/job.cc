#include "exec/job.h"

#include <pthread.h>

#include <cstdlib>

#include "base/check.h"
#include "base/math.h"

namespace takt::exec {
namespace {

// A thread_local with a destructor would do, but the C library ends the process
// if it has no memory to register the destructor.
class FreeAtThreadEnd {
 public:
  FreeAtThreadEnd() : is_valid_(pthread_key_create(&key_, &std::free) == 0) {}
  bool Set(void* memory) const {
    return is_valid_ && pthread_setspecific(key_, memory) == 0;
  }

 private:
  pthread_key_t key_ = 0;
  const bool is_valid_;
};

}  // namespace

bool Worker::LeaveToThread(void* memory) const {
  static const FreeAtThreadEnd at_end;
  return lifetime_ == Lifetime::kObject || at_end.Set(memory);
}

Worker::~Worker() { std::free(local_memory); }

void Worker::ReleaseLocalMemory() {
  if (local_memory == nullptr || !LeaveToThread(nullptr)) return;
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
  if (!LeaveToThread(memory)) {
    std::free(memory);
    return false;
  }
  std::free(local_memory);
  local_memory = static_cast<uint8_t*>(memory);
  local_bytes = rounded;
  return true;
}

}  // namespace takt::exec
