// A TimerHeap keeps the timers of a TimerService in the order of their
// deadlines.
//
// Thread-safety: none.
#ifndef TAKT_BASE_TIMER_HEAP_H_
#define TAKT_BASE_TIMER_HEAP_H_

#include <cstdint>

#include "base/intrusive_heap.h"
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
  struct EarliestFirst {
    static bool Before(const Timer& a, const Timer& b) {
      return a.deadline_ns < b.deadline_ns;
    }
    static size_t& PositionOf(Timer& timer) { return timer.position; }
  };
  using Heap = IntrusiveHeap<Timer, EarliestFirst>;
  static_assert(Heap::kOutside == Timer::kIdle);

  Heap timers_;
};

}  // namespace takt

#endif  // TAKT_BASE_TIMER_HEAP_H_
