#include "runtime/initializer_waiter.h"

#include "base/clock.h"

namespace takt::runtime {

void InitializerWaiter::WaitUntilWoken(vm::Invocation& invocation) {
  BlockingWait thread(executor_.get());
  {
    MutexLock lock(&mutex_);
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].invocation != &invocation) continue;
      entries_.erase(entries_.begin() + i);  // Woken already.
      return;
    }
    entries_.push_back({&invocation, &thread});
  }
  thread.WaitUntilNotified(kInfiniteFuture);
}

void InitializerWaiter::Woken(vm::Invocation& invocation) {
  BlockingWait* thread = nullptr;
  MutexLock lock(&mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].invocation != &invocation) continue;
    thread = entries_[i].thread;
    entries_.erase(entries_.begin() + i);
    break;
  }
  if (thread == nullptr) {
    entries_.push_back({&invocation, nullptr});
  } else {
    thread->Notify();
  }
}

}  // namespace takt::runtime
