#include "base/cancellation.h"

#include <utility>

#include "base/check.h"

namespace takt {

absl::Status Cancellation::Error() {
  return absl::CancelledError("the call has been cancelled");
}

bool Cancellation::BeginWork() {
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
