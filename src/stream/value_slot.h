// The slots through which a stream's inputs and outputs pass between one writer
// and one reader. Neither of the two ever waits for the other.
//
// Thread-safety: the writer's methods may run on one thread at a time, and so
// may the reader's. The two threads may differ.
#ifndef TAKT_STREAM_VALUE_SLOT_H_
#define TAKT_STREAM_VALUE_SLOT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "stream/stream_job.h"
#include "stream/triple_buffer.h"
#include "vm/value.h"

namespace takt::stream {

// The values of one input or output.
class ValueEntry {
 public:
  explicit ValueEntry(size_t value_count) : values_(value_count) {}
  ValueEntry(ValueEntry&& other) noexcept = default;

  absl::Span<const vm::Value> values() const { return values_; }
  // `values` are as many as the entry holds.
  void Set(absl::Span<const vm::Value> values);

  // Memory of the entry behind one value, which a writer fills in place.
  struct Storage {
    uint8_t* data = nullptr;
    size_t byte_length = 0;
  };
  // `value` refers to `memory`.
  void SetStored(size_t index, vm::Value value, Storage memory);
  // Whether value `index`, or each value, was set by SetStored() last.
  bool is_stored(size_t index) const {
    return index < storage_.size() && storage_[index].has_value();
  }
  bool is_stored() const;
  // For a value that is_stored().
  Storage storage(size_t index) const;

  StreamJob job;          // Outputs: the job that made it.
  uint64_t sequence = 0;  // Inputs: how many were published before it.

 private:
  std::vector<vm::Value> values_;
  std::vector<absl::optional<Storage>> storage_;  // Empty, or of each value.
};

// Holds the latest values only.
class LatestValues {
 public:
  explicit LatestValues(size_t value_count);

  // The entry that the writer fills. Publish() hands it to the reader.
  ValueEntry& back() { return entries_[places_.back()]; }
  void Publish() { places_.Publish(); }

  // Returns the latest entry, which belongs to the reader until it calls this
  // again; nullptr if the writer has published none. *is_new: the reader has
  // not taken it before.
  const ValueEntry* Take(bool* is_new);

 private:
  std::vector<ValueEntry> entries_;
  TripleBuffer<> places_;
};

// Holds several entries. The reader takes each of them once, in order.
class ValueQueue {
 public:
  ValueQueue(size_t value_count, size_t capacity);

  // The entry that the writer fills; nullptr if the queue is full. Put() adds
  // it.
  ValueEntry* next();
  void Put();

  // The reader's oldest entry; nullptr if there is none. Pop() gives it back
  // to the writer.
  const ValueEntry* first() const;
  void Pop();

 private:
  std::vector<ValueEntry> entries_;
  // Both only grow, so their difference is the number of entries that wait.
  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> read_{0};
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_VALUE_SLOT_H_
