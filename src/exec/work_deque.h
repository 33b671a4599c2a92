// A WorkDeque holds pointers. Its owner pushes and pops them at the bottom;
// thieves take the oldest one from the top, whose memory the owner's cache has
// most likely lost. This is the deque of Chase and Lev with a fixed capacity:
// it allocates nothing, and refuses an item that does not fit.
//
// Invariants:
//   (1) top_ <= bottom_ + 1; items are those in [top_, bottom_).
//   (2) Only the owner writes bottom_; top_ only grows.
//   (3) An item is given out once. The owner takes any item but the last one
//       without moving top_. The last one, and all items of thieves, go to the
//       thread that moves top_ past them.
//
// The owner writes bottom_ and then reads top_, both sequentially consistent.
// So if the owner and a thief want the last item, one of them sees the other.
// By the same order, a Push() and a later look for idle threads are an event
// count (idle_list.h).
//
// Thread-safety: Push() and Pop() on the owner's thread; Steal() and
// LooksEmpty() on any.
#ifndef TAKT_EXEC_WORK_DEQUE_H_
#define TAKT_EXEC_WORK_DEQUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace takt::exec {

// Tests replace `Atomic` to run every interleaving.
template <typename T, size_t kCapacity,
          template <typename> class Atomic = std::atomic>
class WorkDeque {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  // False if it is full.
  bool Push(T* item) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const int64_t top = top_.load(std::memory_order_acquire);
    TAKT_DCHECK(item != nullptr && top <= bottom);
    if (bottom - top >= static_cast<int64_t>(kCapacity)) return false;
    Slot(bottom).store(item, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  // The item pushed last; nullptr if there is none.
  T* Pop() {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // It is empty, so no thief has to see a change.
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom) return Slot(bottom).load(std::memory_order_relaxed);
    T* item = nullptr;
    if (top == bottom) {
      item = Slot(bottom).load(std::memory_order_relaxed);
      if (!top_.compare_exchange_strong(top, top + 1,
                                        std::memory_order_seq_cst)) {
        item = nullptr;  // A thief was faster.
      }
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return item;
  }

  // Takes `item` back if it is the one pushed last and still there.
  bool PopIf(T* item) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (top_.load(std::memory_order_relaxed) >= bottom) return false;
    // Only the owner writes slots, so this is what Pop() would return.
    if (Slot(bottom - 1).load(std::memory_order_relaxed) != item) return false;
    return Pop() != nullptr;
  }

  // The oldest item; nullptr if there is none. Tries again if another thread
  // was faster: that one has made progress.
  T* Steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    while (true) {
      if (top >= bottom_.load(std::memory_order_seq_cst)) return nullptr;
      // Read before this thread owns it, and dropped if it does not get it.
      T* item = Slot(top).load(std::memory_order_relaxed);
      if (top_.compare_exchange_strong(top, top + 1,
                                       std::memory_order_seq_cst)) {
        return item;
      }
    }
  }

  bool LooksEmpty() const {
    return top_.load(std::memory_order_seq_cst) >=
           bottom_.load(std::memory_order_seq_cst);
  }

 private:
  Atomic<T*>& Slot(int64_t index) {
    return slots_[static_cast<size_t>(index) & (kCapacity - 1)];
  }

  // All threads write top_, only the owner bottom_: on separate cache lines.
  alignas(64) Atomic<int64_t> top_{0};
  alignas(64) Atomic<int64_t> bottom_{0};
  Atomic<T*> slots_[kCapacity] = {};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_WORK_DEQUE_H_
