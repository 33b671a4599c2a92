// A TimerHeap keeps the timers of a TimerService in the order of their
// deadlines. It is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan,
// 1986) of nodes that their owners embed, so no call needs memory.
//
// Thread-safety: none.
#ifndef TAKT_BASE_TIMER_HEAP_H_
#define TAKT_BASE_TIMER_HEAP_H_

#include <cstdint>

#include "base/timer_service.h"

namespace takt {

class TimerHeap {
 public:
  using Timer = TimerService::Timer;

  bool empty() const { return earliest_ == nullptr; }
  // The earliest deadline; kInfiniteFuture if there is none.
  int64_t next_deadline_ns() const;

  // `timer` is idle.
  void Push(Timer* timer, int64_t deadline_ns) noexcept;
  // False if the timer is not in the heap.
  bool Remove(Timer* timer) noexcept;
  // The earliest timer if it is due at `now_ns`, now idle; else nullptr.
  // Timers of the same deadline come in any order.
  Timer* PopDue(int64_t now_ns) noexcept;

 private:
  // The root: no timer is earlier than its parent.
  Timer* earliest_ = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_TIMER_HEAP_H_
