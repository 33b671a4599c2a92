#include "api/value_slot.h"

#include <utility>

#include "api/value.h"
#include "base/check.h"

namespace takt::api {

void ValueEntry::Set(absl::Span<const takt_value_t> values) {
  TAKT_DCHECK(values.size() == values_.size());
  storage.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    // The new one first: it may be the same object.
    takt_value_t old = std::exchange(values_[i], RetainValue(values[i]));
    takt_values_release(1, &old);
  }
}

void ValueEntry::SetStored(size_t index, takt_value_t value, Storage memory) {
  storage.resize(values_.size());
  takt_values_release(1, &values_[index]);
  values_[index] = value;
  storage[index] = memory;
}

LatestValues::LatestValues(size_t value_count) {
  for (int i = 0; i < 3; ++i) entries_.emplace_back(value_count);
}

void LatestValues::Publish() {
  // Release: the reader sees what the entry holds. Acquire: what comes back is
  // what the reader has left.
  back_ =
      middle_.exchange(back_ | kNew, std::memory_order_acq_rel) & kIndexMask;
}

const ValueEntry* LatestValues::Take(bool* is_new) {
  *is_new = (middle_.load(std::memory_order_relaxed) & kNew) != 0;
  if (*is_new) {
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & kIndexMask;
    has_front_ = true;
  }
  return has_front_ ? &entries_[front_] : nullptr;
}

ValueQueue::ValueQueue(size_t value_count, size_t capacity) {
  for (size_t i = 0; i < capacity; ++i) entries_.emplace_back(value_count);
}

ValueEntry* ValueQueue::next() {
  const uint64_t written = written_.load(std::memory_order_relaxed);
  const uint64_t read = read_.load(std::memory_order_acquire);
  if (written - read >= entries_.size()) return nullptr;
  return &entries_[written % entries_.size()];
}

const ValueEntry* ValueQueue::first() const {
  const uint64_t read = read_.load(std::memory_order_relaxed);
  if (written_.load(std::memory_order_acquire) == read) return nullptr;
  return &entries_[read % entries_.size()];
}

}  // namespace takt::api
