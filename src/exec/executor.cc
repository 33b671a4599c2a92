#include "exec/executor.h"

#include <sched.h>

#include <cstdlib>

#include "base/math.h"
#include "exec/pool_executor.h"

namespace takt::exec {

Worker::~Worker() { std::free(local_memory); }

bool Worker::GrowLocalMemory(size_t bytes) {
  constexpr size_t kAlignment = 64;
  uint64_t rounded = 0;
  if (!CheckedAlignUp(bytes, kAlignment, &rounded)) return false;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return false;
  std::free(local_memory);
  local_memory = static_cast<uint8_t*>(memory);
  local_bytes = rounded;
  return true;
}

absl::StatusOr<Ref<Executor>> Executor::Create(const Options& options) {
  return PoolExecutor::Create(options);
}

uint32_t Executor::AvailableConcurrency() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  const int count = CPU_COUNT(&allowed);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

}  // namespace takt::exec
