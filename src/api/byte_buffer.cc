#include "takt/byte_buffer.h"

#include <cstring>

#include "abi/guard.h"
#include "api/handle.h"
#include "vm/byte_buffer.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<vm::ByteBuffer>> CreateByteBuffer(const void* data,
                                                     size_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(Ref<vm::ByteBuffer> buffer,
                        vm::ByteBuffer::Allocate(byte_length, /*alignment=*/0));
  if (data != nullptr && byte_length != 0) {
    std::memcpy(buffer->data(), data, byte_length);
  }
  return buffer;
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_byte_buffer_create(const void* data, size_t byte_length,
                                      takt_byte_buffer_t** out_buffer) {
  TAKT_REQUIRE(out_buffer);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::CreateByteBuffer(data, byte_length), out_buffer);
  }
  TAKT_CATCH_ALL(out_buffer);
}

void takt_byte_buffer_retain(takt_byte_buffer_t* buffer) {
  takt::api::RetainHandle(buffer);
}

void takt_byte_buffer_release(takt_byte_buffer_t* buffer) {
  takt::api::ReleaseHandle(buffer);
}

uint8_t* takt_byte_buffer_data(const takt_byte_buffer_t* buffer) {
  TAKT_REQUIRE_OR(nullptr, buffer);
  return Unwrap(buffer)->data();
}

size_t takt_byte_buffer_byte_length(const takt_byte_buffer_t* buffer) {
  TAKT_REQUIRE_OR(0, buffer);
  return Unwrap(buffer)->byte_length();
}

bool takt_byte_buffer_is_mutable(const takt_byte_buffer_t* buffer) {
  TAKT_REQUIRE_OR(false, buffer);
  return Unwrap(buffer)->is_mutable();
}
