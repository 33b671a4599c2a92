// The writer and the reader of a ring whose oldest items are overwritten. The
// writer never waits. A reader finds out afterwards which of the items that it
// has copied were overwritten meanwhile, perhaps in part. The owner has the
// slots: kWords atomic words for each item.
//
// Thread-safety: Write() on one thread; the rest on any thread.
#ifndef TAKT_BASE_OVERWRITING_RING_H_
#define TAKT_BASE_OVERWRITING_RING_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace takt {

// Tests replace `Atomic` to run it under a model of memory.
template <size_t kWords, template <typename> class Atomic = std::atomic>
class OverwritingRing {
 public:
  using Words = std::array<uint64_t, kWords>;

  // `capacity` is a power of two.
  explicit OverwritingRing(uint64_t capacity) : capacity_(capacity) {}

  uint64_t capacity() const { return capacity_; }
  // Items ever written.
  uint64_t written_count() const {
    return written_.load(std::memory_order_acquire);
  }

  void Write(Atomic<uint64_t>* slots, const Words& words) {
    const uint64_t index = written_.load(std::memory_order_relaxed);
    begun_.store(index + 1, std::memory_order_relaxed);
    Atomic<uint64_t>* const slot = SlotOf(slots, index);
    for (size_t i = 0; i < kWords; ++i) {
      // Release: a reader that sees this word also sees the value of begun_,
      // and so knows that the old item of this slot is gone.
      slot[i].store(words[i], std::memory_order_release);
    }
    written_.store(index + 1, std::memory_order_release);
  }

  // Copies item `index`, which is below written_count(). It holds nothing if
  // it is below FirstKept() afterwards.
  Words Read(const Atomic<uint64_t>* slots, uint64_t index) const {
    const Atomic<uint64_t>* const slot = SlotOf(slots, index);
    Words words;
    for (size_t i = 0; i < kWords; ++i) {
      words[i] = slot[i].load(std::memory_order_acquire);
    }
    return words;
  }
  // The first item that no write of those that have begun overwrites.
  uint64_t FirstKept() const {
    const uint64_t begun = begun_.load(std::memory_order_relaxed);
    return begun - std::min(begun, capacity_);
  }

 private:
  template <typename Slot>
  Slot* SlotOf(Slot* slots, uint64_t index) const {
    return &slots[(index & (capacity_ - 1)) * kWords];
  }

  const uint64_t capacity_;
  Atomic<uint64_t> begun_{0};    // Writes that have begun.
  Atomic<uint64_t> written_{0};  // Writes that have ended.
};

}  // namespace takt

#endif  // TAKT_BASE_OVERWRITING_RING_H_
