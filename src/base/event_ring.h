// An EventRing keeps the last events of one thread. A write takes no lock,
// waits for no other thread and allocates nothing; a full ring overwrites its
// oldest event.
//
// Thread-safety: Write() on one thread; the rest on any thread, also during a
// Write().
#ifndef TAKT_BASE_EVENT_RING_H_
#define TAKT_BASE_EVENT_RING_H_

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/event.h"
#include "base/overwriting_ring.h"

namespace takt {

class EventRing {
 public:
  // Makes a ring for at least `event_count_max` events, 1 to 2^28. nullptr if
  // there is no memory. The time does not depend on the size: the system
  // provides a page when Touch() or an event first writes to it.
  static std::unique_ptr<EventRing> Create(uint32_t event_count_max);
  // Writes to all of its memory. Called before the first Write().
  void Touch();

  void Write(const Event& event) {
    ring_.Write(slots_.get(), std::bit_cast<Ring::Words>(event));
  }

  uint64_t capacity() const { return ring_.capacity(); }
  // Events ever written.
  uint64_t written_count() const { return ring_.written_count(); }
  // Appends the events from number `first` on that are still in the ring.
  // Returns the number of those that were overwritten.
  uint64_t Read(uint64_t first, std::vector<Event>* events) const;

 private:
  using Ring = OverwritingRing<sizeof(Event) / sizeof(uint64_t)>;
  static constexpr size_t kWords = std::tuple_size_v<Ring::Words>;
  struct Free {
    void operator()(std::atomic<uint64_t>* slots) const { std::free(slots); }
  };
  using Slots = std::unique_ptr<std::atomic<uint64_t>[], Free>;
  EventRing(uint64_t capacity, Slots slots)
      : ring_(capacity), slots_(std::move(slots)) {}

  Ring ring_;
  const Slots slots_;
};

}  // namespace takt

#endif  // TAKT_BASE_EVENT_RING_H_
