// ResultMemory is the caller's memory for the results of one call. It is
// offered to the allocations of the program: an allocation that is known to
// become a result gets a buffer over the caller's memory, so that no copy is
// needed.
//
// Thread-safety: used by the thread that runs the program, then by the thread
// that ends the call.
#ifndef TAKT_HAL_RESULT_MEMORY_H_
#define TAKT_HAL_RESULT_MEMORY_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "base/job_attributes.h"
#include "base/object.h"
#include "hal/buffer.h"
#include "hal/fence.h"

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
    // The index of the program's allocation that becomes the result; kUnknown
    // if that has memory of its own.
    int32_t allocation = kUnknown;
    // The storage of the buffer that was made over the memory, or null.
    Ref<Storage> storage;
  };

  void Add(Place place) { places_.push_back(std::move(place)); }
  absl::Span<Place> places() { return absl::MakeSpan(places_); }

  // Takes the program's next allocation, of `byte_length` bytes on `device`,
  // and returns a buffer over the caller's memory for it. Null if there is
  // none; then the program allocates, and Note() gets that buffer.
  Ref<Buffer> Offer(Device& device, uint64_t byte_length);
  void Note(const Buffer& buffer);

  // The index of the allocation that has this storage; kUnknown if none has.
  int32_t FindAllocation(const Storage* storage) const;

  // The program may queue work that lasts longer than the call, such as a copy
  // of the result to its own state. It would read the caller's memory after the
  // caller has got it back. So all work is followed by its fences.

  // The fence that ends the call; by default the end of the program does.
  void SetEnd(const Fence* end) { end_ = Ref<const Fence>::Retain(end); }
  // Work that begins after `wait` and ends with `signal`; each may be null.
  void NoteWork(const Fence* wait, const Fence* signal);
  // `joined` is reached with the last of `fences`, which may be null.
  void NoteJoin(absl::Span<Fence* const> fences, const Fence* joined);
  // The program continues only when all of these are reached.
  void NoteAwait(absl::Span<Fence* const> fences);
  // Whether the noted work is over when the call is.
  bool EndsInTime() const;

 private:
  void RemoveOpen(const Fence* fence);

  absl::InlinedVector<Place, 2> places_;
  // By allocation. For comparison only: some may be destroyed.
  absl::InlinedVector<const Storage*, 8> storages_;
  Ref<const Fence> end_;
  // These fences end noted work, and no noted work waits for them.
  absl::InlinedVector<Ref<const Fence>, 4> open_;
  bool has_endless_work_ = false;  // No fence tells its end.
};

}  // namespace takt::hal

#endif  // TAKT_HAL_RESULT_MEMORY_H_
