// An EventQueue is where threads put what has happened, for the one of them
// that decides: whoever puts something in and finds nobody deciding, decides,
// for all. So nobody waits, and what is decided upon is seen by one thread at a
// time.
//
// Thread-safety: Post() and Enter() on any thread; Take() and Leave() by who
// has entered.
#ifndef TAKT_SHOP_EVENT_QUEUE_H_
#define TAKT_SHOP_EVENT_QUEUE_H_

#include <atomic>
#include <cstdint>

namespace takt::shop {

// Embedded in what it is about, which it keeps in place until it was taken.
struct Event {
  void (*apply)(Event* event) = nullptr;  // By who decides. May destroy it.
  Event* next = nullptr;
};

class EventQueue {
 public:
  // Puts `event` in, which is in no queue. Somebody has to call Enter() soon.
  void Post(Event* event) {
    Event* first = first_.load(std::memory_order_relaxed);
    do {
      event->next = first;
      // Release: who takes it sees what the thread had written.
    } while (!first_.compare_exchange_weak(
        first, event, std::memory_order_release, std::memory_order_relaxed));
  }
  bool empty() const {
    return first_.load(std::memory_order_acquire) == nullptr;
  }

  // True: the caller decides until Leave() returns true. False: somebody else
  // does, and sees what has been posted before.
  bool Enter() {
    if (callers_.fetch_add(1, std::memory_order_acq_rel) != 0) return false;
    seen_ = 1;
    return true;
  }
  // False: there has been another caller meanwhile, so go on.
  bool Leave() {
    const uint32_t seen = seen_;
    const uint32_t left =
        callers_.fetch_sub(seen, std::memory_order_acq_rel) - seen;
    if (left == 0) return true;  // Somebody else may own seen_ by now.
    seen_ = left;
    return false;
  }

  // All events, in the order in which they were posted.
  Event* Take() {
    Event* last = first_.exchange(nullptr, std::memory_order_acquire);
    Event* ordered = nullptr;
    while (last != nullptr) {
      Event* const before = last->next;
      last->next = ordered;
      ordered = last;
      last = before;
    }
    return ordered;
  }

 private:
  std::atomic<Event*> first_{nullptr};
  std::atomic<uint32_t> callers_{0};
  uint32_t seen_ = 0;  // Of callers_; belongs to who has entered.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_EVENT_QUEUE_H_
