#include "base/event_ring.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace takt {

std::unique_ptr<EventRing> EventRing::Create(uint32_t event_count_max) {
  TAKT_CHECK(event_count_max >= 1 && event_count_max <= 1u << 28);
  const uint64_t capacity = std::bit_ceil(uint64_t{event_count_max});
  // Zeros are what a fresh atomic holds, and fresh pages hold them already.
  static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
  static_assert(std::is_trivially_destructible_v<std::atomic<uint64_t>>);
  Slots slots(static_cast<std::atomic<uint64_t>*>(
      std::calloc(capacity, sizeof(std::atomic<uint64_t>) * kWords)));
  if (slots == nullptr) return nullptr;
  return std::unique_ptr<EventRing>(new (std::nothrow)
                                        EventRing(capacity, std::move(slots)));
}

void EventRing::Touch() {
  TAKT_CHECK(written_count() == 0);
  constexpr size_t kPageBytes = 4096;
  const size_t count = capacity() * kWords;
  for (size_t i = 0; i < count; i += kPageBytes / sizeof(uint64_t)) {
    slots_[i].store(0, std::memory_order_relaxed);
  }
  slots_[count - 1].store(0, std::memory_order_relaxed);
}

uint64_t EventRing::Read(uint64_t first, std::vector<Event>* events) const {
  const uint64_t end = written_count();
  if (first >= end) return 0;
  uint64_t begin = std::max(first, end - std::min(end, capacity()));
  const size_t offset = events->size();
  events->reserve(offset + (end - begin));
  for (uint64_t index = begin; index < end; ++index) {
    events->push_back(std::bit_cast<Event>(ring_.Read(slots_.get(), index)));
  }
  const uint64_t kept = std::min(ring_.FirstKept(), end);
  if (kept > begin) {
    const auto from = events->begin() + static_cast<ptrdiff_t>(offset);
    events->erase(from, from + static_cast<ptrdiff_t>(kept - begin));
    begin = kept;
  }
  return begin - first;
}

}  // namespace takt
