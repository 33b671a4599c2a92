// allocator.* and buffer.*
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "modules/hal_state.h"

namespace takt::modules {
namespace {

constexpr uint32_t kMaxScalarBytes = 4;

hal::BufferParams ParamsOf(uint32_t memory_types, uint32_t usage) {
  return {.memory_type = memory_types, .usage = usage};
}

// An allocator outlives its device when compiled code keeps it in a global.
absl::StatusOr<hal::Device*> DeviceOf(const hal::Allocator& allocator) {
  if (allocator.device() == nullptr) {
    return absl::FailedPreconditionError(
        "the allocator's device has been destroyed");
  }
  return allocator.device();
}

absl::Status CheckScalarLength(uint32_t length) {
  if (length > kMaxScalarBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "length: expected 0 to ", kMaxScalarBytes, " bytes, got ", length));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<hal::Buffer>> HalState::AllocatorAllocate(
    vm::NativeCall& call, hal::Allocator& allocator, uint64_t affinity,
    uint32_t memory_types, uint32_t usage, uint64_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(hal::Device * device, DeviceOf(allocator));
  TAKT_ASSIGN_OR_RETURN(
      MemoryCharge charge,
      MemoryCharge::Take(call.invocation().memory_account(), byte_length));
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> buffer,
      device->Allocate(ParamsOf(memory_types, usage), byte_length));
  buffer->storage()->SetCharge(std::move(charge));
  return buffer;
}

absl::StatusOr<Ref<hal::Buffer>> HalState::AllocatorImport(
    hal::Allocator& allocator, int32_t try_import, uint64_t affinity,
    uint32_t memory_types, uint32_t usage, vm::ByteBuffer& source,
    uint64_t offset, uint64_t length) {
  TAKT_ASSIGN_OR_RETURN(hal::Device * device, DeviceOf(allocator));
  const uint64_t source_bytes = source.byte_length();
  if (length == hal::kWholeBuffer && offset <= source_bytes) {
    length = source_bytes - offset;
  }
  if (!RangeFits(offset, length, source_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("source: expected a range within its ", source_bytes,
                     " bytes, got ", length, " at offset ", offset));
  }
  hal::BufferParams params = ParamsOf(memory_types, usage);
  const bool immutable = (params.usage & hal::kUsageImmutable) != 0;
  if (!source.is_mutable() && !immutable) {
    return absl::PermissionDeniedError(absl::StrCat(
        "source: is constant, so its import must be immutable; got usage 0x",
        absl::Hex(params.usage)));
  }
  params.access = immutable ? hal::kAccessRead : hal::kAccessAll;
  absl::StatusOr<Ref<hal::Buffer>> buffer = device->Import(
      params, Ref<Object>::Retain(&source), source.data() + offset, length);
  if (!buffer.ok() && try_import != 0) return Ref<hal::Buffer>();
  return buffer;
}

absl::StatusOr<std::tuple<Ref<hal::Device>, uint64_t>>
HalState::AllocatorSelect(uint32_t memory_types, uint32_t usage, int64_t flags,
                          DevicePairArgs devices) {
  if (devices.empty()) {
    return absl::InvalidArgumentError(
        "devices: expected at least one device to select from, got none");
  }
  if (devices.size() > kMaxSelectPairs) {
    return absl::OutOfRangeError(absl::StrCat("devices: expected at most ",
                                              kMaxSelectPairs, ", got ",
                                              devices.size()));
  }
  // All devices share the host's memory, so the first is as good as any.
  auto [device, affinity] = devices[0];
  if (device == nullptr) {
    return absl::InvalidArgumentError(
        "devices: expected a hal.device in pair 0, got null");
  }
  return std::make_tuple(Ref<hal::Device>::Retain(device), affinity);
}

absl::Status HalState::BufferAssert(hal::Buffer& buffer,
                                    vm::ByteBuffer& message,
                                    hal::Allocator& allocator,
                                    uint64_t minimum_length,
                                    uint32_t memory_types, uint32_t usage) {
  if (buffer.byte_length() < minimum_length) {
    return absl::InvalidArgumentError(
        absl::StrCat(message.text(), ": expected a buffer of at least ",
                     minimum_length, " bytes, got ", buffer.byte_length()));
  }
  if ((buffer.memory_type() & memory_types) != memory_types) {
    return absl::PermissionDeniedError(absl::StrCat(
        message.text(), ": expected memory type 0x", absl::Hex(memory_types),
        ", got 0x", absl::Hex(buffer.memory_type())));
  }
  if ((buffer.usage() & usage) != usage) {
    return absl::PermissionDeniedError(
        absl::StrCat(message.text(), ": expected usage 0x", absl::Hex(usage),
                     ", got 0x", absl::Hex(buffer.usage())));
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> HalState::BufferLoad(hal::Buffer& buffer,
                                             uint64_t offset, uint32_t length) {
  TAKT_RETURN_IF_ERROR(CheckScalarLength(length));
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        buffer.Map(offset, length, hal::kAccessRead));
  int32_t value = 0;  // Little endian: the bytes not read stay zero.
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

absl::Status HalState::BufferStore(int32_t value, hal::Buffer& buffer,
                                   uint64_t offset, uint32_t length) {
  TAKT_RETURN_IF_ERROR(CheckScalarLength(length));
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        buffer.Map(offset, length, hal::kAccessWrite));
  std::memcpy(bytes.data(), &value, bytes.size());
  return absl::OkStatus();
}

absl::Status HalState::BufferPreserve(hal::Buffer& buffer) {
  buffer.storage()->AddOwner();
  return absl::OkStatus();
}

absl::StatusOr<int32_t> HalState::BufferDiscard(hal::Buffer& buffer) {
  return buffer.storage()->DropOwner() ? 1 : 0;
}

absl::StatusOr<int32_t> HalState::BufferIsTerminal(hal::Buffer& buffer) {
  return buffer.storage()->HasOneOwner() ? 1 : 0;
}

}  // namespace takt::modules
