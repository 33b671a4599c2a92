// A WorkDeque holds pointers that its owner pushes and pops at the bottom, and
// that thieves take from the top: the oldest, which is the one whose memory the
// owner's cache has most likely lost. (Chase and Lev; of a fixed capacity, so
// that nothing is ever allocated: what does not fit goes elsewhere.)
//
// Invariants:
//   (1) top_ <= bottom_ + 1; items are those in [top_, bottom_).
//   (2) Only the owner writes bottom_; top_ only grows.
//   (3) An item is given out once: below the last by whoever moves top_ past
//       it, or by the owner, who then needs no top_; the last one only by
//       moving top_.
//
// bottom_ is written, and top_ read after it, in the one order of sequentially
// consistent operations: of an owner that takes the last item and a thief that
// takes it, one sees the other. The same order makes a Push() followed by a
// look at who sleeps an event count (idle_list.h).
//
// Thread-safety: Push() and Pop() on the owner's thread; Steal() and
// LooksEmpty() on any.
#ifndef TAKT_EXEC_WORK_DEQUE_H_
#define TAKT_EXEC_WORK_DEQUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace takt::exec {

// `Atomic` is std::atomic but in tests, which run every interleaving.
template <typename T, size_t kCapacity,
          template <typename> class Atomic = std::atomic>
class WorkDeque {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  // False if it is full.
  bool Push(T* item) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const int64_t top = top_.load(std::memory_order_acquire);
    if (bottom - top >= static_cast<int64_t>(kCapacity)) return false;
    Slot(bottom).store(item, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  // The item pushed last; nullptr if there is none.
  T* Pop() {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // Nothing to take, and no need to tell the thieves.
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom) return Slot(bottom).load(std::memory_order_relaxed);
    T* item = nullptr;
    if (top == bottom) {
      item = Slot(bottom).load(std::memory_order_relaxed);
      if (!top_.compare_exchange_strong(top, top + 1,
                                        std::memory_order_seq_cst)) {
        item = nullptr;  // A thief was first.
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

  // The oldest item; nullptr if there is none. Tries again when another thief
  // was quicker: then the deque has changed, so some thread gets on.
  T* Steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    while (true) {
      if (top >= bottom_.load(std::memory_order_seq_cst)) return nullptr;
      // Read before it is known to be ours: if it is not, it is thrown away.
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

  // Thieves write top_; apart from what the owner writes.
  alignas(64) Atomic<int64_t> top_{0};
  alignas(64) Atomic<int64_t> bottom_{0};
  Atomic<T*> slots_[kCapacity] = {};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_WORK_DEQUE_H_
