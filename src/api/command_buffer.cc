#include "hal/command_buffer.h"

#include "abi/guard.h"
#include "absl/container/inlined_vector.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "hal/device.h"
#include "takt/command_buffer.h"

namespace takt::api {
namespace {

// Categories of the compiler's ABI: transfers and dispatches.
constexpr uint32_t kAllCategories = 3;

absl::StatusOr<Ref<hal::CommandBuffer>> Create(
    hal::Device* device, const takt_command_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(
      takt_command_buffer_options_t given,
      ReadOptions(options, &takt_command_buffer_options_init));
  return device->CreateCommandBuffer(
      given.one_shot ? hal::kCommandBufferOneShot : 0, kAllCategories,
      given.binding_capacity);
}

absl::Status Barrier(hal::CommandBuffer* command_buffer) {
  return command_buffer->ExecutionBarrier();
}

absl::Status Fill(hal::CommandBuffer* command_buffer,
                  const takt_buffer_range_t* target, const void* pattern,
                  size_t pattern_length) {
  TAKT_ASSIGN_OR_RETURN(uint32_t value, ReadPattern(pattern, pattern_length));
  return command_buffer->FillBuffer(RangeOf(*target), value, pattern_length);
}

absl::Status Update(hal::CommandBuffer* command_buffer, const void* source,
                    size_t byte_length, const takt_buffer_range_t* target) {
  return command_buffer->UpdateBuffer(
      {static_cast<const uint8_t*>(source), byte_length}, RangeOf(*target));
}

absl::Status Copy(hal::CommandBuffer* command_buffer,
                  const takt_buffer_range_t* source,
                  const takt_buffer_range_t* target) {
  return command_buffer->CopyBuffer(RangeOf(*source), RangeOf(*target));
}

absl::Status Dispatch(hal::CommandBuffer* command_buffer,
                      const takt_dispatch_t* dispatch) {
  TAKT_RETURN_IF_ERROR(Require(dispatch->executable, "executable"));
  if (dispatch->constant_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(dispatch->constants, "constants"));
  }
  if (dispatch->binding_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(dispatch->bindings, "bindings"));
  }
  if (dispatch->binding_count > hal::CommandBuffer::kMaxDispatchBindings) {
    return absl::InvalidArgumentError(
        absl::StrCat(dispatch->binding_count, " bindings are beyond ",
                     hal::CommandBuffer::kMaxDispatchBindings));
  }
  absl::InlinedVector<hal::BufferRef, 8> bindings;
  for (size_t i = 0; i < dispatch->binding_count; ++i) {
    bindings.push_back(RangeOf(dispatch->bindings[i]));
  }
  const absl::Span<const uint32_t> constants(dispatch->constants,
                                             dispatch->constant_count);
  if (dispatch->workgroup_range != nullptr) {
    return command_buffer->DispatchIndirect(
        Unwrap(dispatch->executable), dispatch->function,
        RangeOf(*dispatch->workgroup_range), constants, bindings);
  }
  const uint32_t* counts = dispatch->workgroups;
  return command_buffer->Dispatch(
      Unwrap(dispatch->executable), dispatch->function,
      {counts[0], counts[1], counts[2]}, constants, bindings);
}

absl::Status Finalize(hal::CommandBuffer* command_buffer) {
  return command_buffer->Finalize();
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_command_buffer_create(
    takt_device_t* device, const takt_command_buffer_options_t* options,
    takt_command_buffer_t** out_command_buffer) {
  TAKT_REQUIRE(device, out_command_buffer);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Create(Unwrap(device), options),
                           out_command_buffer);
  }
  TAKT_CATCH_ALL(device, out_command_buffer);
}

void takt_command_buffer_retain(takt_command_buffer_t* command_buffer) {
  takt::api::RetainHandle(command_buffer);
}

void takt_command_buffer_release(takt_command_buffer_t* command_buffer) {
  takt::api::ReleaseHandle(command_buffer);
}

takt_status_t takt_command_buffer_barrier(
    takt_command_buffer_t* command_buffer) {
  TAKT_REQUIRE(command_buffer);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Barrier(Unwrap(command_buffer)));
  }
  TAKT_CATCH_ALL(command_buffer);
}

takt_status_t takt_command_buffer_fill(takt_command_buffer_t* command_buffer,
                                       const takt_buffer_range_t* target,
                                       const void* pattern,
                                       size_t pattern_length) {
  TAKT_REQUIRE(command_buffer, target, Items(pattern_length, pattern));
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Fill(Unwrap(command_buffer), target,
                                              pattern, pattern_length));
  }
  TAKT_CATCH_ALL(command_buffer, target, Items(pattern_length, pattern));
}

takt_status_t takt_command_buffer_update(takt_command_buffer_t* command_buffer,
                                         const void* source, size_t byte_length,
                                         const takt_buffer_range_t* target) {
  TAKT_REQUIRE(command_buffer, Items(byte_length, source), target);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Update(Unwrap(command_buffer), source,
                                                byte_length, target));
  }
  TAKT_CATCH_ALL(command_buffer, Items(byte_length, source), target);
}

takt_status_t takt_command_buffer_copy(takt_command_buffer_t* command_buffer,
                                       const takt_buffer_range_t* source,
                                       const takt_buffer_range_t* target) {
  TAKT_REQUIRE(command_buffer, source, target);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::Copy(Unwrap(command_buffer), source, target));
  }
  TAKT_CATCH_ALL(command_buffer, source, target);
}

takt_status_t takt_command_buffer_dispatch(
    takt_command_buffer_t* command_buffer, const takt_dispatch_t* dispatch) {
  TAKT_REQUIRE(command_buffer, dispatch);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::Dispatch(Unwrap(command_buffer), dispatch));
  }
  TAKT_CATCH_ALL(command_buffer, dispatch);
}

takt_status_t takt_command_buffer_finalize(
    takt_command_buffer_t* command_buffer) {
  TAKT_REQUIRE(command_buffer);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Finalize(Unwrap(command_buffer)));
  }
  TAKT_CATCH_ALL(command_buffer);
}
