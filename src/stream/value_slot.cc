#include "stream/value_slot.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace takt::stream {

void ValueEntry::Set(absl::Span<const vm::Value> values) {
  TAKT_CHECK(values.size() == values_.size());
  storage_.clear();
  std::copy(values.begin(), values.end(), values_.begin());
}

void ValueEntry::SetStored(size_t index, vm::Value value, Storage memory) {
  TAKT_CHECK(index < values_.size());
  storage_.resize(values_.size());
  values_[index] = std::move(value);
  storage_[index] = memory;
}

bool ValueEntry::is_stored() const {
  return storage_.size() == values_.size() &&
         std::all_of(storage_.begin(), storage_.end(),
                     [](const auto& memory) { return memory.has_value(); });
}

ValueEntry::Storage ValueEntry::storage(size_t index) const {
  TAKT_CHECK(is_stored(index));
  return *storage_[index];
}

LatestValues::LatestValues(size_t value_count) {
  for (uint32_t i = 0; i < TripleBuffer<>::kPlaceCount; ++i) {
    entries_.emplace_back(value_count);
  }
}

const ValueEntry* LatestValues::Take(bool* is_new) {
  const uint32_t place = places_.Take(is_new);
  return place < entries_.size() ? &entries_[place] : nullptr;
}

ValueQueue::ValueQueue(size_t value_count, size_t capacity) {
  TAKT_CHECK(capacity > 0);
  for (size_t i = 0; i < capacity; ++i) entries_.emplace_back(value_count);
}

ValueEntry* ValueQueue::next() {
  const uint64_t written = written_.load(std::memory_order_relaxed);
  const uint64_t read = read_.load(std::memory_order_acquire);
  if (written - read >= entries_.size()) return nullptr;
  return &entries_[written % entries_.size()];
}

void ValueQueue::Put() {
  const uint64_t written = written_.load(std::memory_order_relaxed);
  TAKT_CHECK(written - read_.load(std::memory_order_relaxed) < entries_.size());
  written_.store(written + 1, std::memory_order_release);
}

const ValueEntry* ValueQueue::first() const {
  const uint64_t read = read_.load(std::memory_order_relaxed);
  if (written_.load(std::memory_order_acquire) == read) return nullptr;
  return &entries_[read % entries_.size()];
}

void ValueQueue::Pop() {
  const uint64_t read = read_.load(std::memory_order_relaxed);
  TAKT_CHECK(read != written_.load(std::memory_order_relaxed));
  read_.store(read + 1, std::memory_order_release);
}

}  // namespace takt::stream
