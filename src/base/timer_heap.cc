#include "base/timer_heap.h"

#include "base/clock.h"

namespace takt {

int64_t TimerHeap::next_deadline_ns() const {
  return timers_.empty() ? kInfiniteFuture : timers_.top()->deadline_ns;
}

void TimerHeap::Push(Timer* timer, int64_t deadline_ns) {
  timer->deadline_ns = deadline_ns;
  timers_.Push(timer);
}

bool TimerHeap::Remove(Timer* timer) {
  if (timer->position == Timer::kIdle) return false;
  timers_.Remove(timer);
  return true;
}

TimerHeap::Timer* TimerHeap::PopDue(int64_t now_ns) {
  if (timers_.empty() || timers_.top()->deadline_ns > now_ns) return nullptr;
  Timer* timer = timers_.top();
  timers_.Remove(timer);
  return timer;
}

}  // namespace takt
