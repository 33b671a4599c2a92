#include "vm/run_guard.h"

#include <algorithm>

#include "base/check.h"

namespace takt::vm {

bool RunGuard::Poll() {
  if (is_cancelled()) return Fail(absl::CancelledError("cancelled"));
  return (attention_.load(std::memory_order_relaxed) & kLimited) == 0 ||
         CountSteps(1);
}

void RunGuard::SetInterrupter(Interrupter interrupter, void* argument) {
  interrupter_ = interrupter;
  interrupter_argument_ = argument;
  attention_.fetch_or(kInterruptible);
}

bool RunGuard::AskInterrupter() {
  polls_left_ = kPollsPerQuestion;
  return interrupter_(interrupter_argument_);
}

bool RunGuard::CountSteps(uint64_t steps) {
  if (steps > steps_left_ && !TakeSteps(steps - steps_left_)) return false;
  steps_left_ -= steps;
  return true;
}

bool RunGuard::TakeSteps(uint64_t missing) {
  if (cancellation_ != nullptr) {
    if (cancellation_->is_requested()) return Fail(Cancellation::Error());
    // So many steps at a time take some 10 us: that is how long a cancellation
    // waits, and threads seldom meet at the counter.
    constexpr uint64_t kSteps = 1024;
    for (const uint64_t steps : {std::max(missing, kSteps), missing}) {
      if (!cancellation_->TakeSteps(steps)) continue;
      steps_left_ += steps;
      return true;
    }
  }
  return Fail(absl::ResourceExhaustedError("the step limit is reached"));
}

void RunGuard::SetCancellation(Cancellation& cancellation) {
  TAKT_DCHECK(cancellation_ == nullptr);
  cancellation_ = &cancellation;
  steps_left_ = 0;
  attention_.fetch_or(kLimited);
}

void RunGuard::ReleaseCancellation() {
  if (cancellation_ == nullptr) return;
  cancellation_->GiveBackSteps(steps_left_);
  cancellation_ = nullptr;
  SetStepLimit(0);
}

void RunGuard::SetStepLimit(uint64_t steps) {
  TAKT_DCHECK(cancellation_ == nullptr);
  if (steps == 0) {
    attention_.fetch_and(static_cast<uint8_t>(~kLimited));
  } else {
    attention_.fetch_or(kLimited);
  }
  steps_left_ = steps;
}

}  // namespace takt::vm
