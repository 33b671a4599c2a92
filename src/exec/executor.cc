#include "exec/executor.h"

#include <algorithm>

#include "exec/stealing_executor.h"

namespace takt::exec {

absl::StatusOr<Ref<Executor>> Executor::Create(const Options& options) {
  return StealingExecutor::Create(options);
}

uint32_t Executor::AvailableConcurrency() {
  return std::max<uint32_t>(AllowedCpus().count(), 1);
}

}  // namespace takt::exec
