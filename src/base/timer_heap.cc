#include "base/timer_heap.h"

#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace takt {
namespace {

using Timer = TimerService::Timer;

// Of two roots without siblings, the later one becomes a child of the other.
Timer* Merge(Timer* a, Timer* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (b->deadline_ns < a->deadline_ns) std::swap(a, b);
  b->next_sibling = a->first_child;
  if (a->first_child != nullptr) a->first_child->previous = b;
  b->previous = a;
  a->first_child = b;
  return a;
}

// A root without siblings, of the siblings from `first` on.
Timer* MergeSiblings(Timer* first) {
  Timer* pairs = nullptr;  // Linked by next_sibling, the last pair first.
  while (first != nullptr) {
    Timer* const second = first->next_sibling;
    Timer* const rest = second != nullptr ? second->next_sibling : nullptr;
    for (Timer* timer : {first, second}) {
      if (timer == nullptr) continue;
      timer->previous = nullptr;
      timer->next_sibling = nullptr;
    }
    Timer* const pair = Merge(first, second);
    pair->next_sibling = pairs;
    pairs = pair;
    first = rest;
  }
  Timer* root = nullptr;
  while (pairs != nullptr) {
    Timer* const next = std::exchange(pairs->next_sibling, nullptr);
    root = Merge(root, pairs);
    pairs = next;
  }
  return root;
}

}  // namespace

int64_t TimerHeap::next_deadline_ns() const {
  return empty() ? kInfiniteFuture : earliest_->deadline_ns;
}

void TimerHeap::Push(Timer* timer, int64_t deadline_ns) noexcept {
  TAKT_DCHECK(!timer->is_armed && timer->first_child == nullptr &&
              timer->previous == nullptr && timer->next_sibling == nullptr);
  timer->deadline_ns = deadline_ns;
  timer->is_armed = true;
  earliest_ = Merge(earliest_, timer);
}

bool TimerHeap::Remove(Timer* timer) noexcept {
  if (!timer->is_armed) return false;
  Timer* const children =
      MergeSiblings(std::exchange(timer->first_child, nullptr));
  if (timer == earliest_) {
    earliest_ = children;
  } else {
    Timer* const previous = std::exchange(timer->previous, nullptr);
    Timer* const next = std::exchange(timer->next_sibling, nullptr);
    (previous->first_child == timer ? previous->first_child
                                    : previous->next_sibling) = next;
    if (next != nullptr) next->previous = previous;
    earliest_ = Merge(earliest_, children);
  }
  timer->is_armed = false;
  return true;
}

TimerHeap::Timer* TimerHeap::PopDue(int64_t now_ns) noexcept {
  if (empty() || earliest_->deadline_ns > now_ns) return nullptr;
  Timer* const timer = earliest_;
  Remove(timer);
  return timer;
}

}  // namespace takt
