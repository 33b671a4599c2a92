#include "hal/result_memory.h"

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

}  // namespace takt::hal
