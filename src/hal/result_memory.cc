#include "hal/result_memory.h"

#include <algorithm>
#include <utility>

#include "hal/device.h"

namespace takt::hal {

Ref<Buffer> ResultMemory::Offer(Device& device, uint64_t byte_length) {
  const auto number = static_cast<int32_t>(storages_.size());
  for (Place& place : places_) {
    if (place.allocation != number || place.byte_length != byte_length ||
        place.storage != nullptr) {
      continue;
    }
    absl::StatusOr<Ref<Buffer>> buffer =
        device.Import(BufferParams(), place.owner, place.data, byte_length);
    if (!buffer.ok()) return nullptr;  // Then its memory is its own.
    place.storage = Ref<Storage>::Retain((*buffer)->storage());
    storages_.push_back(place.storage.get());
    return *std::move(buffer);
  }
  return nullptr;
}

void ResultMemory::Note(const Buffer& buffer) {
  storages_.push_back(buffer.storage());
}

int32_t ResultMemory::FindAllocation(const Storage* storage) const {
  // The last allocation at an address is the one that lives.
  for (size_t i = storages_.size(); i-- > 0;) {
    if (storages_[i] == storage) return static_cast<int32_t>(i);
  }
  return kUnknown;
}

void ResultMemory::NoteWork(const Fence* wait, const Fence* signal) {
  if (signal == nullptr) {
    has_endless_work_ = true;
    return;
  }
  RemoveOpen(wait);
  open_.push_back(Ref<const Fence>::Retain(signal));
}

void ResultMemory::NoteJoin(absl::Span<Fence* const> fences,
                            const Fence* joined) {
  const size_t before = open_.size();
  NoteAwait(fences);
  if (open_.size() != before) {
    open_.push_back(Ref<const Fence>::Retain(joined));
  }
}

void ResultMemory::NoteAwait(absl::Span<Fence* const> fences) {
  for (const Fence* fence : fences) RemoveOpen(fence);
}

bool ResultMemory::EndsInTime() const {
  return !has_endless_work_ &&
         std::all_of(open_.begin(), open_.end(),
                     [this](const Ref<const Fence>& fence) {
                       return fence.get() == end_.get();
                     });
}

void ResultMemory::RemoveOpen(const Fence* fence) {
  const auto is_fence = [fence](const Ref<const Fence>& open) {
    return open.get() == fence;
  };
  open_.erase(std::remove_if(open_.begin(), open_.end(), is_fence),
              open_.end());
}

}  // namespace takt::hal
