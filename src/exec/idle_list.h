// An IdleList is the event count of an executor. A thread that found no work
// announces itself, looks once more, and sleeps. A thread that publishes work
// looks afterwards for a thread to wake.
//
//   sleeper                       publisher
//   Announce(self)                publish the work
//   if there is work:             if HasIdle(): Take() a node, and raise its
//     Withdraw(self), take it       flag
//   else sleep on the own flag
//
// Both sides write, then read what the other writes, in the one order of
// sequentially consistent operations: the publisher sees the sleeper, or the
// sleeper sees the work. So work never waits while all threads sleep.
//
// The node that came last is taken first: its thread's cache is warm.
//
// Thread-safety: every method may run on any thread, but Announce() and
// Withdraw() only on the thread of the node.
#ifndef TAKT_EXEC_IDLE_LIST_H_
#define TAKT_EXEC_IDLE_LIST_H_

#include <atomic>
#include <cstdint>

#include "base/check.h"
#include "base/mutex.h"

namespace takt::exec {

struct IdleNode {
  IdleNode* idle_next = nullptr;
  IdleNode* idle_previous = nullptr;
  bool is_idle = false;       // In the list; under its lock.
  bool goes_to_back = false;  // Taken after all others.
};

// Tests replace the parameters to run every interleaving.
template <template <typename> class Atomic = std::atomic, typename Lock = Mutex>
class IdleList {
 public:
  void Announce(IdleNode& node) {
    lock_.Lock();
    TAKT_CHECK(!node.is_idle);
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

  // True if it was still in the list. False if another thread has taken it,
  // which then raises its flag or has done so.
  bool Withdraw(IdleNode& node) {
    lock_.Lock();
    const bool was_idle = node.is_idle;
    if (was_idle) Remove(node);
    lock_.Unlock();
    return was_idle;
  }

  bool HasIdle() const { return count() != 0; }
  uint32_t count() const { return count_.load(std::memory_order_seq_cst); }

  // Takes the node with the least `distance(node)`, the first of equals. A
  // negative distance excludes a node; 0 ends the search. Calls `taken(node)`
  // under the lock. nullptr if there is no such node.
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
    TAKT_CHECK(node.is_idle);
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
