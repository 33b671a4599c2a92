// An EventRing keeps the last events of one thread. A write takes no lock,
// waits for no other thread and allocates nothing; a full ring overwrites its
// oldest event.
//
// Thread-safety: Write() on one thread; the rest on any thread, also during a
// Write().
#ifndef TAKT_BASE_EVENT_RING_H_
#define TAKT_BASE_EVENT_RING_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/event.h"

namespace takt {

class EventRing {
 public:
  // Makes a ring for at least `event_count_max` events, 1 to 2^28. nullptr if
  // there is no memory. This takes the same time for all sizes: the system
  // provides a page when it is first written, by Touch() or by an event.
  static std::unique_ptr<EventRing> Create(uint32_t event_count_max);
  // Writes to all of its memory. Before the first Write().
  void Touch();

  void Write(const Event& event) {
    const uint64_t index = written_.load(std::memory_order_relaxed);
    begun_.store(index + 1, std::memory_order_relaxed);
    const auto words = std::bit_cast<Words>(event);
    std::atomic<uint64_t>* const slot =
        &slots_[(index & (capacity_ - 1)) * words.size()];
    for (size_t i = 0; i < words.size(); ++i) {
      // Release: a reader that sees this word also sees the value of begun_,
      // and so knows that the old event of this slot is gone.
      slot[i].store(words[i], std::memory_order_release);
    }
    written_.store(index + 1, std::memory_order_release);
  }

  uint64_t capacity() const { return capacity_; }
  // Events ever written.
  uint64_t written_count() const {
    return written_.load(std::memory_order_acquire);
  }
  // Appends the events from number `first` on that are still there. Returns
  // how many have been overwritten.
  uint64_t Read(uint64_t first, std::vector<Event>* events) const;

 private:
  using Words = std::array<uint64_t, sizeof(Event) / sizeof(uint64_t)>;
  struct Free {
    void operator()(std::atomic<uint64_t>* slots) const { std::free(slots); }
  };
  using Slots = std::unique_ptr<std::atomic<uint64_t>[], Free>;
  EventRing(uint64_t capacity, Slots slots)
      : capacity_(capacity), slots_(std::move(slots)) {}

  const uint64_t capacity_;  // A power of two.
  const Slots slots_;
  std::atomic<uint64_t> begun_{0};    // Writes that have begun.
  std::atomic<uint64_t> written_{0};  // Writes that have ended.
};

}  // namespace takt

#endif  // TAKT_BASE_EVENT_RING_H_
