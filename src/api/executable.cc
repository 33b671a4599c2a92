#include "takt/executable.h"

#include <cstring>

#include "abi/guard.h"
#include "api/handle.h"
#include "hal/device.h"
#include "hal/executable.h"
#include "vm/byte_buffer.h"

namespace takt::api {
namespace {

// What the flatbuffers and ELF files of modules are aligned to.
constexpr size_t kAlignment = 64;

absl::StatusOr<Ref<hal::Executable>> Load(hal::Device* device,
                                          const char* format, const void* data,
                                          size_t byte_length,
                                          size_t constant_count,
                                          const uint32_t* constants) {
  // A copy: aligned, and for loaders that keep what they read.
  TAKT_ASSIGN_OR_RETURN(Ref<vm::ByteBuffer> copy,
                        vm::ByteBuffer::Allocate(byte_length, kAlignment));
  if (byte_length != 0) std::memcpy(copy->data(), data, byte_length);
  const absl::Span<const uint8_t> bytes(copy->data(), byte_length);
  return device->LoadExecutable(format, bytes, std::move(copy),
                                {constants, constant_count});
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_executable_load(takt_device_t* device, const char* format,
                                   const void* data, size_t byte_length,
                                   size_t constant_count,
                                   const uint32_t* constants,
                                   takt_executable_t** out_executable) {
  TAKT_REQUIRE(device, format, Items(byte_length, data),
               Items(constant_count, constants), out_executable);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::Load(Unwrap(device), format, data, byte_length,
                        constant_count, constants),
        out_executable);
  }
  TAKT_CATCH_ALL(device, format, Items(byte_length, data),
                 Items(constant_count, constants), out_executable);
}

void takt_executable_retain(takt_executable_t* executable) {
  takt::api::RetainHandle(executable);
}

void takt_executable_release(takt_executable_t* executable) {
  takt::api::ReleaseHandle(executable);
}

size_t takt_executable_function_count(const takt_executable_t* executable) {
  TAKT_REQUIRE_OR(0, executable);
  return Unwrap(executable)->function_count();
}

takt_executable_function_t takt_executable_function(
    const takt_executable_t* executable, size_t index) {
  TAKT_REQUIRE_OR({}, executable);
  takt_executable_function_t function = {0, 0};
  const takt::hal::Executable& code = *Unwrap(executable);
  if (index >= code.function_count()) return function;
  function.constant_count = code.constant_count(index);
  function.binding_count = code.binding_count(index);
  return function;
}
