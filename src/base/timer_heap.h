// A TimerHeap keeps timers by deadline: what a TimerService is made of.
//
// Thread-safety: none.
#ifndef TAKT_BASE_TIMER_HEAP_H_
#define TAKT_BASE_TIMER_HEAP_H_

#include <cstdint>
#include <vector>

#include "base/timer_service.h"

namespace takt {

class TimerHeap {
 public:
  using Timer = TimerService::Timer;

  bool empty() const { return timers_.empty(); }
  // The earliest deadline; kInfiniteFuture if there is none.
  int64_t next_deadline_ns() const;

  // `timer` is idle.
  void Push(Timer* timer, int64_t deadline_ns);
  // False if the timer is not in the heap.
  bool Remove(Timer* timer);
  // The earliest timer if it is due at `now_ns`, now idle; else nullptr.
  // Timers of the same deadline come in any order.
  Timer* PopDue(int64_t now_ns);

 private:
  void Place(Timer* timer, size_t position);
  void SiftUp(size_t position);
  void SiftDown(size_t position);

  std::vector<Timer*> timers_;  // Binary heap, earliest first.
};

}  // namespace takt

#endif  // TAKT_BASE_TIMER_HEAP_H_
