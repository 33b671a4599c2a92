// An IdleList is the event count of an executor: threads that found no work
// announce themselves, look once more, and sleep; whoever publishes work looks
// for one to wake after that.
//
//   sleeper                       publisher
//   Announce(self)                publish the work
//   if there is work:             if HasIdle(): Take() one, and raise its
//     Withdraw(self), take it       flag
//   else sleep on the own flag
//
// Both sides write, then read what the other writes, in the one order of
// sequentially consistent operations: the publisher sees the sleeper, or the
// sleeper sees the work. Nobody sleeps while there is work and nobody wakes.
//
// The one that slept last is the first to be taken: it is warm.
//
// Thread-safety: every method may run on any thread; Announce() and Withdraw()
// for a node on its own.
#ifndef TAKT_EXEC_IDLE_LIST_H_
#define TAKT_EXEC_IDLE_LIST_H_

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace takt::exec {

struct IdleNode {
  IdleNode* idle_next = nullptr;
  IdleNode* idle_previous = nullptr;
  bool is_idle = false;       // In the list; under its lock.
  bool goes_to_back = false;  // Taken after all others.
};

// The parameters are others in tests, which run every interleaving.
template <template <typename> class Atomic = std::atomic, typename Lock = Mutex>
class IdleList {
 public:
  void Announce(IdleNode& node) {
    lock_.Lock();
    IdleNode** place = &first_;
    IdleNode* before = nullptr;
    while (node.goes_to_back && *place != nullptr && !(*place)->goes_to_back) {
      before = *place;
      place = &before->idle_next;
    }
    node.idle_previous = before;
    node.idle_next = *place;
    if (*place != nullptr) (*place)->idle_previous = &node;
    *place = &node;
    node.is_idle = true;
    count_.store(count_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_seq_cst);
    lock_.Unlock();
  }

  // True if it was still in the list. False: somebody has taken it, and raises
  // its flag or has done so.
  bool Withdraw(IdleNode& node) {
    lock_.Lock();
    const bool was_idle = node.is_idle;
    if (was_idle) Remove(node);
    lock_.Unlock();
    return was_idle;
  }

  bool HasIdle() const { return count() != 0; }
  uint32_t count() const { return count_.load(std::memory_order_seq_cst); }

  // Takes the node for which `distance(node)` is least, the first of equals;
  // negative: not that one; 0: look no further. `taken(node)` is called before
  // the lock is let go. nullptr if there is none.
  template <typename Distance, typename Taken>
  IdleNode* Take(Distance distance, Taken taken) {
    lock_.Lock();
    IdleNode* best = nullptr;
    int best_distance = 0;
    for (IdleNode* node = first_; node != nullptr; node = node->idle_next) {
      const int here = distance(*node);
      if (here < 0 || (best != nullptr && here >= best_distance)) continue;
      best = node;
      best_distance = here;
      if (here == 0) break;
    }
    if (best != nullptr) {
      Remove(*best);
      taken(*best);
    }
    lock_.Unlock();
    return best;
  }

  // Calls visit(node) for each, under the lock.
  template <typename Visit>
  void ForEach(Visit visit) {
    lock_.Lock();
    for (IdleNode* node = first_; node != nullptr; node = node->idle_next) {
      visit(*node);
    }
    lock_.Unlock();
  }

 private:
  void Remove(IdleNode& node) {
    (node.idle_previous != nullptr ? node.idle_previous->idle_next : first_) =
        node.idle_next;
    if (node.idle_next != nullptr) {
      node.idle_next->idle_previous = node.idle_previous;
    }
    node.is_idle = false;
    count_.store(count_.load(std::memory_order_relaxed) - 1,
                 std::memory_order_relaxed);
  }

  Lock lock_;
  IdleNode* first_ = nullptr;
  Atomic<uint32_t> count_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_IDLE_LIST_H_
