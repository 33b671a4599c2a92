// Where a stream's inputs and outputs lie between the two who exchange them:
// one writer and one reader, neither of which ever waits for the other.
//
// Thread-safety: the writer's methods on one thread at a time, and the
// reader's.
#ifndef TAKT_API_VALUE_SLOT_H_
#define TAKT_API_VALUE_SLOT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "takt/stream.h"

namespace takt::api {

// Values with references of their own, and whose they are.
class ValueEntry {
 public:
  explicit ValueEntry(size_t value_count) : values_(value_count) {}
  ValueEntry(ValueEntry&& other) noexcept = default;
  ~ValueEntry() { takt_values_release(values_.size(), values_.data()); }

  absl::Span<const takt_value_t> values() const { return values_; }
  // `values` are as many, and borrowed.
  void Set(absl::Span<const takt_value_t> values);

  // Memory of the entry's own behind each value, for who writes in place.
  struct Storage {
    uint8_t* data = nullptr;
    size_t byte_length = 0;
  };
  // Empty while the values come from elsewhere.
  std::vector<Storage> storage;

  // Takes the reference of `value`, which stands for that storage.
  void SetStored(size_t index, takt_value_t value, Storage memory);

  takt_stream_job_t job{};  // Of an output.
  uint64_t sequence = 0;    // Of an input.

 private:
  std::vector<takt_value_t> values_;
};

// Holds the latest only: three entries, of which the writer has one, the reader
// one, and the one between them is exchanged (a triple buffer).
class LatestValues {
 public:
  explicit LatestValues(size_t value_count);

  // The writer's entry, to be filled; then everybody's.
  ValueEntry& back() { return entries_[back_]; }
  void Publish();

  // The reader's: the latest entry, his until the next call; nullptr if nothing
  // was ever published. *is_new: it was not taken before.
  const ValueEntry* Take(bool* is_new);

 private:
  static constexpr uint32_t kIndexMask = 3;
  static constexpr uint32_t kNew = 4;

  std::vector<ValueEntry> entries_;
  uint32_t back_ = 0;
  std::atomic<uint32_t> middle_{1};  // An index, and kNew.
  uint32_t front_ = 2;
  bool has_front_ = false;
};

// Holds several, each to be taken once, in order.
class ValueQueue {
 public:
  ValueQueue(size_t value_count, size_t capacity);

  // The writer's: the entry to fill, nullptr if there is no room; then Put().
  ValueEntry* next();
  void Put() { written_.fetch_add(1, std::memory_order_release); }

  // The reader's: the oldest entry, nullptr if there is none; then Pop(), after
  // which it is the writer's.
  const ValueEntry* first() const;
  void Pop() { read_.fetch_add(1, std::memory_order_release); }

 private:
  std::vector<ValueEntry> entries_;
  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> read_{0};
};

}  // namespace takt::api

#endif  // TAKT_API_VALUE_SLOT_H_
