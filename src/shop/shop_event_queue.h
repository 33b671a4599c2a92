// A ShopEventQueue collects events for the one thread that decides. A thread
// that posts an event while no thread decides becomes the decider, and applies
// the events of all threads. So no thread waits, and only one thread at a time
// decides.
//
// Thread-safety: Post() and Enter() on any thread; Take() and Leave() by the
// thread that has entered.
#ifndef TAKT_SHOP_SHOP_EVENT_QUEUE_H_
#define TAKT_SHOP_SHOP_EVENT_QUEUE_H_

#include <atomic>
#include <cstdint>

#include "base/check.h"

namespace takt::shop {

// An event, embedded in its object, which must live until the event is applied.
struct ShopEvent {
  void (*apply)(ShopEvent* event) = nullptr;  // By the decider. May destroy it.
  ShopEvent* next = nullptr;
};

// An event of `subject`, of which it is a member.
template <typename Subject>
struct EventOf : ShopEvent {
  explicit EventOf(Subject* of) : subject(of) {}
  Subject* const subject;
};

class ShopEventQueue {
 public:
  // `event` is in no queue. The caller must call Enter() soon.
  void Post(ShopEvent* event) {
    ShopEvent* first = first_.load(std::memory_order_relaxed);
    do {
      event->next = first;
      // Release pairs with the acquire of Take(): the decider sees what this
      // thread has written.
    } while (!first_.compare_exchange_weak(
        first, event, std::memory_order_release, std::memory_order_relaxed));
  }
  bool empty() const {
    return first_.load(std::memory_order_acquire) == nullptr;
  }

  // True: the caller is the decider until Leave() returns true. False: another
  // thread decides, and will apply all events that were posted before.
  bool Enter() {
    if (callers_.fetch_add(1, std::memory_order_acq_rel) != 0) return false;
    seen_ = 1;
    return true;
  }
  // False: another thread has called Enter() meanwhile, so the caller must
  // decide again.
  bool Leave() {
    TAKT_DCHECK(seen_ > 0);
    const uint32_t seen = seen_;
    const uint32_t left =
        callers_.fetch_sub(seen, std::memory_order_acq_rel) - seen;
    if (left == 0) return true;  // Another thread may own seen_ by now.
    seen_ = left;
    return false;
  }

  // All events, in the order in which they were posted.
  ShopEvent* Take() {
    ShopEvent* last = first_.exchange(nullptr, std::memory_order_acquire);
    ShopEvent* ordered = nullptr;
    while (last != nullptr) {
      ShopEvent* const before = last->next;
      last->next = ordered;
      ordered = last;
      last = before;
    }
    return ordered;
  }

 private:
  std::atomic<ShopEvent*> first_{nullptr};
  std::atomic<uint32_t> callers_{0};
  uint32_t seen_ = 0;  // The callers that the decider has counted.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_SHOP_EVENT_QUEUE_H_
