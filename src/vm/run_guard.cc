#include "vm/run_guard.h"

namespace takt::vm {

bool RunGuard::Poll() {
  if (is_cancelled()) return Fail(absl::CancelledError("cancelled"));
  return (attention_.load(std::memory_order_relaxed) & kLimited) == 0 ||
         CountSteps(1);
}

bool RunGuard::CountSteps(uint64_t steps) {
  if (steps > steps_left_) {
    return Fail(absl::ResourceExhaustedError("the step limit is reached"));
  }
  steps_left_ -= steps;
  return true;
}

void RunGuard::SetStepLimit(uint64_t steps) {
  if (steps == 0) {
    attention_.fetch_and(static_cast<uint8_t>(~kLimited));
  } else {
    attention_.fetch_or(kLimited);
  }
  steps_left_ = steps;
}

}  // namespace takt::vm
