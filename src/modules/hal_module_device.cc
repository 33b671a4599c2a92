// devices.*, device.* other than its queues, and ex.file.from_memory
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "modules/hal_arguments.h"
#include "modules/hal_state.h"

namespace takt::modules {

absl::StatusOr<int32_t> HalState::DevicesCount() {
  return static_cast<int32_t>(environment_->devices.size());
}

absl::StatusOr<Ref<hal::Device>> HalState::DevicesGet(uint32_t index) {
  if (index >= environment_->devices.size()) return Ref<hal::Device>();
  return environment_->devices[index];
}

absl::StatusOr<Ref<hal::Allocator>> HalState::DeviceAllocator(
    hal::Device& device) {
  return Ref<hal::Allocator>::Retain(device.allocator());
}

absl::StatusOr<std::tuple<int32_t, int64_t>> HalState::DeviceQueryI64(
    hal::Device& device, vm::ByteBuffer& category, vm::ByteBuffer& key) {
  return QueryDevice(device, category.text(), key.text());
}

absl::StatusOr<Ref<hal::File>> HalState::FileFromMemory(
    hal::Device& device, uint64_t affinity, uint32_t access,
    vm::ByteBuffer& source, uint64_t offset, uint64_t length, int32_t flags) {
  const auto granted = static_cast<hal::MemoryAccess>(access & hal::kAccessAll);
  if ((granted & hal::kAccessWrite) != 0 && !source.is_mutable()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "source: is constant, so only read access (1) can be had; got 0x",
        absl::Hex(access)));
  }
  TAKT_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes,
                        BytesOf(source, offset, length));
  return hal::File::Wrap(Ref<Object>::Retain(&source),
                         const_cast<uint8_t*>(bytes.data()), bytes.size(),
                         granted);
}

}  // namespace takt::modules
