#include "base/cancellation.h"

#include <utility>

#include "base/check.h"
#include "base/lean_error.h"

namespace takt {

absl::Status Cancellation::Error() {
  return LeanError(absl::StatusCode::kCancelled,
                   [] { return "the call has been cancelled"; });
}

bool Cancellation::TakeSteps(uint64_t steps) {
  if (!has_step_limit_) return true;
  uint64_t left = steps_left_.load(std::memory_order_relaxed);
  while (steps <= left) {
    if (steps_left_.compare_exchange_weak(left, left - steps,
                                          std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Cancellation::GiveBackSteps(uint64_t steps) {
  if (has_step_limit_) {
    steps_left_.fetch_add(steps, std::memory_order_relaxed);
  }
}

bool Cancellation::BeginWork() {
  TAKT_DCHECK(stops_all_work());
  MutexLock lock(&mutex_);
  if (is_requested()) return false;
  ++work_count_;
  return true;
}

void Cancellation::EndWork() {
  OnIdle on_idle = nullptr;
  void* argument = nullptr;
  {
    MutexLock lock(&mutex_);
    TAKT_DCHECK(work_count_ > 0);
    if (--work_count_ > 0) return;
    on_idle = std::exchange(on_idle_, nullptr);
    argument = argument_;
  }
  if (on_idle != nullptr) on_idle(argument);
}

void Cancellation::Request() {
  MutexLock lock(&mutex_);
  is_requested_.store(true, std::memory_order_relaxed);
}

bool Cancellation::IsIdle(OnIdle on_idle, void* argument) {
  MutexLock lock(&mutex_);
  TAKT_DCHECK(is_requested() && on_idle_ == nullptr);
  if (work_count_ == 0) return true;
  on_idle_ = on_idle;
  argument_ = argument;
  return false;
}

}  // namespace takt
