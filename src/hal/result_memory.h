// ResultMemory is memory of a caller's in which results of one call are to lie,
// offered to the allocations that its program makes: if one is known to become
// a result, its buffer is made over the caller's memory, and nothing has to be
// copied.
//
// Thread-safety: used by the thread that runs the program, then by the thread
// that ends the call.
#ifndef TAKT_HAL_RESULT_MEMORY_H_
#define TAKT_HAL_RESULT_MEMORY_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/job_attributes.h"
#include "base/object.h"
#include "hal/buffer.h"

namespace takt::hal {

class Device;

class ResultMemory final : public JobResultMemory {
 public:
  // The object behind `results`; null for null.
  static ResultMemory* From(JobResultMemory* results) {
    return static_cast<ResultMemory*>(results);
  }

  static constexpr int32_t kUnknown = -1;

  // The memory for one result.
  struct Place {
    Ref<Object> owner;  // Keeps the memory.
    uint8_t* data = nullptr;
    uint64_t byte_length = 0;
    // Which of the program's allocations becomes the result; kUnknown: its
    // memory is its own.
    int32_t allocation = kUnknown;
    // The storage of the buffer that was made over the memory, or null.
    Ref<Storage> storage;
  };

  void Add(Place place) { places_.push_back(std::move(place)); }
  absl::Span<Place> places() { return absl::MakeSpan(places_); }

  // The program's next allocation, of so many bytes on `device`: a buffer over
  // a caller's memory; or null, and Note() follows with the one that it gets.
  Ref<Buffer> Offer(Device& device, uint64_t byte_length);
  void Note(const Buffer& buffer);

  // Which allocation has this storage, that lives; kUnknown: none.
  int32_t FindAllocation(const Storage* storage) const;

 private:
  absl::InlinedVector<Place, 2> places_;
  // By allocation; for comparison only: some may be gone.
  absl::InlinedVector<const Storage*, 8> storages_;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_RESULT_MEMORY_H_
