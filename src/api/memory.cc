#include "takt/memory.h"

#include <algorithm>

#include "abi/guard.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "base/math.h"
#include "base/shared_memory.h"
#include "modules/memory_need.h"
#include "runtime/context.h"
#include "runtime/function.h"
#include "runtime/memory_preparation.h"

namespace takt::api {
namespace {

absl::Status QueryMemory(const runtime::Function* function,
                         takt_memory_need_t* out_need) {
  TAKT_RETURN_IF_ERROR(RequireSized(out_need, "out_need"));
  const modules::MemoryNeed found = runtime::FindMemoryNeed(*function);
  takt_memory_need_t need;
  std::memset(&need, 0, sizeof(need));
  need.known_count = found.byte_lengths.size();
  for (const uint64_t byte_length : found.byte_lengths) {
    need.bytes_largest = std::max(need.bytes_largest, byte_length);
    if (!CheckedAdd(need.bytes_total, byte_length, &need.bytes_total)) {
      need.bytes_total = UINT64_MAX;
    }
  }
  need.unknown_count = found.unknown_count;
  need.is_bounded = found.unknown_count == 0 && found.is_once;
  WriteSized(need, out_need);
  return absl::OkStatus();
}

absl::StatusOr<Ref<hal::Buffer>> Wrap(hal::Device* device,
                                      const hal::BufferParams& params,
                                      Ref<SharedMemory> memory) {
  const absl::Span<uint8_t> bytes = memory->bytes();
  return device->Import(params, std::move(memory), bytes.data(), bytes.size());
}

absl::StatusOr<Ref<hal::Buffer>> ImportFd(
    hal::Device* device, int fd, uint64_t byte_offset, size_t byte_length,
    const takt_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(hal::BufferParams params, ReadBufferParams(options));
  TAKT_ASSIGN_OR_RETURN(
      Ref<SharedMemory> memory,
      SharedMemory::Import(fd, byte_offset, byte_length,
                           (params.access & hal::kAccessWrite) != 0));
  return Wrap(device, params, std::move(memory));
}

absl::StatusOr<Ref<hal::Buffer>> AllocateShared(
    hal::Device* device, size_t byte_length,
    const takt_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(hal::BufferParams params, ReadBufferParams(options));
  TAKT_ASSIGN_OR_RETURN(Ref<SharedMemory> memory,
                        SharedMemory::Create(byte_length));
  return Wrap(device, params, std::move(memory));
}

absl::Status ExportFd(const hal::Buffer* buffer, int* out_fd,
                      uint64_t* out_byte_offset) {
  auto* memory = DynCast<SharedMemory>(buffer->storage()->owner());
  if (memory == nullptr) {
    return absl::FailedPreconditionError(
        "the buffer's memory has no file descriptor: allocate it with "
        "takt_buffer_allocate_shared()");
  }
  TAKT_ASSIGN_OR_RETURN(*out_fd, memory->DuplicateFd());
  *out_byte_offset = memory->offset() + buffer->byte_offset();
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Give;
using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_function_query_memory(const takt_function_t* function,
                                         takt_memory_need_t* out_need) {
  TAKT_REQUIRE(function, out_need);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueryMemory(Unwrap(function), out_need));
  }
  TAKT_CATCH_ALL(function, out_need);
}

takt_status_t takt_function_prepare(takt_function_t* function) {
  TAKT_REQUIRE(function);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::runtime::PrepareFunction(*Unwrap(function)));
  }
  TAKT_CATCH_ALL(function);
}

takt_status_t takt_context_prepare(takt_context_t* context) {
  TAKT_REQUIRE(context);
  TAKT_TRY {
    takt::runtime::PrepareContext(*Unwrap(context));
    return nullptr;
  }
  TAKT_CATCH_ALL(context);
}

takt_status_t takt_buffer_import_fd(takt_device_t* device, int fd,
                                    uint64_t byte_offset, size_t byte_length,
                                    const takt_buffer_options_t* options,
                                    takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(device, out_buffer);
  TAKT_TRY {
    return Give(__func__,
                takt::api::ImportFd(Unwrap(device), fd, byte_offset,
                                    byte_length, options),
                out_buffer);
  }
  TAKT_CATCH_ALL(device, out_buffer);
}

takt_status_t takt_buffer_allocate_shared(takt_device_t* device,
                                          size_t byte_length,
                                          const takt_buffer_options_t* options,
                                          takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(device, out_buffer);
  TAKT_TRY {
    return Give(__func__,
                takt::api::AllocateShared(Unwrap(device), byte_length, options),
                out_buffer);
  }
  TAKT_CATCH_ALL(device, out_buffer);
}

takt_status_t takt_buffer_export_fd(takt_buffer_t* buffer, int* out_fd,
                                    uint64_t* out_byte_offset) {
  TAKT_REQUIRE(buffer, out_fd, out_byte_offset);
  TAKT_TRY {
    *out_fd = -1;
    *out_byte_offset = 0;
    return ToStatus(
        __func__, takt::api::ExportFd(Unwrap(buffer), out_fd, out_byte_offset));
  }
  TAKT_CATCH_ALL(buffer, out_fd, out_byte_offset);
}
