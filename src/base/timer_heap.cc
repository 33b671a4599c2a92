#include "base/timer_heap.h"

#include "base/check.h"
#include "base/clock.h"

namespace takt {

int64_t TimerHeap::next_deadline_ns() const {
  return timers_.empty() ? kInfiniteFuture : timers_.front()->deadline_ns;
}

void TimerHeap::Push(Timer* timer, int64_t deadline_ns) {
  TAKT_CHECK(timer->position == Timer::kIdle);
  timer->deadline_ns = deadline_ns;
  timers_.push_back(timer);
  timer->position = timers_.size() - 1;
  SiftUp(timer->position);
}

bool TimerHeap::Remove(Timer* timer) {
  const size_t position = timer->position;
  if (position == Timer::kIdle) return false;
  TAKT_CHECK(position < timers_.size() && timers_[position] == timer);
  Timer* last = timers_.back();
  timers_.pop_back();
  timer->position = Timer::kIdle;
  if (last != timer) {
    Place(last, position);
    SiftUp(position);
    SiftDown(last->position);
  }
  return true;
}

TimerHeap::Timer* TimerHeap::PopDue(int64_t now_ns) {
  if (timers_.empty() || timers_.front()->deadline_ns > now_ns) return nullptr;
  Timer* timer = timers_.front();
  Remove(timer);
  return timer;
}

void TimerHeap::Place(Timer* timer, size_t position) {
  timers_[position] = timer;
  timer->position = position;
}

void TimerHeap::SiftUp(size_t position) {
  Timer* timer = timers_[position];
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (timers_[parent]->deadline_ns <= timer->deadline_ns) break;
    Place(timers_[parent], position);
    position = parent;
  }
  Place(timer, position);
}

void TimerHeap::SiftDown(size_t position) {
  Timer* timer = timers_[position];
  for (;;) {
    size_t child = 2 * position + 1;
    if (child >= timers_.size()) break;
    if (child + 1 < timers_.size() &&
        timers_[child + 1]->deadline_ns < timers_[child]->deadline_ns) {
      ++child;
    }
    if (timer->deadline_ns <= timers_[child]->deadline_ns) break;
    Place(timers_[child], position);
    position = child;
  }
  Place(timer, position);
}

}  // namespace takt
