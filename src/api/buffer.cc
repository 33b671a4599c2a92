#include "hal/buffer.h"

#include <cstring>

#include "abi/guard.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "api/release_guard.h"
#include "hal/device.h"
#include "takt/buffer.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<hal::Buffer>> Allocate(
    hal::Device* device, size_t byte_length,
    const takt_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(hal::BufferParams params, ReadBufferParams(options));
  return device->Allocate(params, byte_length);
}

absl::StatusOr<Ref<hal::Buffer>> WrapHost(hal::Device* device, void* data,
                                          size_t byte_length,
                                          const takt_buffer_options_t* options,
                                          takt_buffer_release_t release,
                                          void* user_data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address % hal::kBufferAlignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("data: address 0x", absl::Hex(address),
                     " is not a multiple of ", hal::kBufferAlignment));
  }
  TAKT_ASSIGN_OR_RETURN(hal::BufferParams params, ReadBufferParams(options));
  auto guard = MakeRef<ReleaseGuard>();
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> buffer,
      device->Import(params, guard, static_cast<uint8_t*>(data), byte_length));
  guard->Arm(release, user_data);
  return buffer;
}

absl::StatusOr<Ref<hal::Buffer>> Subspan(hal::Buffer* buffer,
                                         size_t byte_offset,
                                         size_t byte_length) {
  return buffer->Subspan(byte_offset, LengthOf(byte_length));
}

absl::StatusOr<absl::Span<uint8_t>> Map(hal::Buffer* buffer, size_t byte_offset,
                                        size_t byte_length, uint32_t access) {
  if (access == 0 || (access & ~TAKT_ACCESS_ALL) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("access ", access, " is no set of TAKT_ACCESS_* bits"));
  }
  return buffer->Map(byte_offset, LengthOf(byte_length),
                     static_cast<hal::MemoryAccess>(access));
}

absl::Status Read(hal::Buffer* buffer, size_t byte_offset, void* target,
                  size_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(
      absl::Span<uint8_t> bytes,
      Map(buffer, byte_offset, byte_length, TAKT_ACCESS_READ));
  if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::Status Write(hal::Buffer* buffer, size_t byte_offset, const void* source,
                   size_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(
      absl::Span<uint8_t> bytes,
      Map(buffer, byte_offset, byte_length, TAKT_ACCESS_WRITE));
  if (!bytes.empty()) std::memcpy(bytes.data(), source, bytes.size());
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Give;
using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_buffer_allocate(takt_device_t* device, size_t byte_length,
                                   const takt_buffer_options_t* options,
                                   takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(device, out_buffer);
  TAKT_TRY {
    return Give(__func__,
                takt::api::Allocate(Unwrap(device), byte_length, options),
                out_buffer);
  }
  TAKT_CATCH_ALL(device, out_buffer);
}

takt_status_t takt_buffer_wrap(takt_device_t* device, void* data,
                               size_t byte_length,
                               const takt_buffer_options_t* options,
                               takt_buffer_release_t release, void* user_data,
                               takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(device, Items(byte_length, data), out_buffer);
  TAKT_TRY {
    return Give(__func__,
                takt::api::WrapHost(Unwrap(device), data, byte_length, options,
                                    release, user_data),
                out_buffer);
  }
  TAKT_CATCH_ALL(device, Items(byte_length, data), out_buffer);
}

takt_status_t takt_buffer_subspan(takt_buffer_t* buffer, size_t byte_offset,
                                  size_t byte_length,
                                  takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(buffer, out_buffer);
  TAKT_TRY {
    return Give(__func__,
                takt::api::Subspan(Unwrap(buffer), byte_offset, byte_length),
                out_buffer);
  }
  TAKT_CATCH_ALL(buffer, out_buffer);
}

void takt_buffer_retain(takt_buffer_t* buffer) {
  takt::api::RetainHandle(buffer);
}

void takt_buffer_release(takt_buffer_t* buffer) {
  takt::api::ReleaseHandle(buffer);
}

size_t takt_buffer_byte_length(const takt_buffer_t* buffer) {
  TAKT_REQUIRE_OR(0, buffer);
  return Unwrap(buffer)->byte_length();
}

takt_status_t takt_buffer_map(takt_buffer_t* buffer, size_t byte_offset,
                              size_t byte_length, uint32_t access,
                              takt_mapping_t* out_mapping) {
  TAKT_REQUIRE(buffer, out_mapping);
  TAKT_TRY {
    std::memset(out_mapping, 0, sizeof(*out_mapping));
    auto bytes =
        takt::api::Map(Unwrap(buffer), byte_offset, byte_length, access);
    if (!bytes.ok()) return ToStatus(__func__, bytes.status());
    takt_buffer_retain(buffer);
    *out_mapping = {bytes->empty() ? nullptr : bytes->data(), bytes->size(),
                    buffer, byte_offset, access};
    return nullptr;
  }
  TAKT_CATCH_ALL(buffer, out_mapping);
}

void takt_buffer_unmap(takt_mapping_t* mapping) {
  TAKT_IGNORE_NULL(mapping);
  // Memory is one on a CPU: nothing to write back.
  takt_buffer_release(mapping->buffer);
  std::memset(mapping, 0, sizeof(*mapping));
}

takt_status_t takt_buffer_read(takt_buffer_t* buffer, size_t byte_offset,
                               void* target, size_t byte_length) {
  TAKT_REQUIRE(buffer, Items(byte_length, target));
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Read(Unwrap(buffer), byte_offset,
                                              target, byte_length));
  }
  TAKT_CATCH_ALL(buffer, Items(byte_length, target));
}

takt_status_t takt_buffer_write(takt_buffer_t* buffer, size_t byte_offset,
                                const void* source, size_t byte_length) {
  TAKT_REQUIRE(buffer, Items(byte_length, source));
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Write(Unwrap(buffer), byte_offset,
                                               source, byte_length));
  }
  TAKT_CATCH_ALL(buffer, Items(byte_length, source));
}
