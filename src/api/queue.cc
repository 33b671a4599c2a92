#include "takt/queue.h"

#include <memory>

#include "abi/guard.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "api/submission.h"
#include "hal/device.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<hal::Buffer>> Alloca(const Submission& submission,
                                        size_t byte_length,
                                        const takt_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(hal::BufferParams params, ReadBufferParams(options));
  Ref<hal::Buffer> buffer;
  TAKT_RETURN_IF_ERROR(Submit(submission, [&](const hal::QueueTicket& ticket) {
    auto result = submission.device->QueueAlloca(ticket, params, byte_length);
    if (result.ok()) buffer = *std::move(result);
    return result.status();
  }));
  return buffer;
}

absl::Status Fill(const Submission& submission, hal::Buffer* target,
                  size_t target_offset, size_t byte_length, const void* pattern,
                  size_t pattern_length) {
  TAKT_ASSIGN_OR_RETURN(uint32_t value, ReadPattern(pattern, pattern_length));
  return Submit(submission, [&](const hal::QueueTicket& ticket) {
    return submission.device->QueueFill(ticket, target, target_offset,
                                        LengthOf(byte_length), value,
                                        pattern_length);
  });
}

absl::Status Update(const Submission& submission, const void* source,
                    size_t byte_length, hal::Buffer* target,
                    size_t target_offset) {
  return Submit(submission, [&](const hal::QueueTicket& ticket) {
    return submission.device->QueueUpdate(
        ticket, {static_cast<const uint8_t*>(source), byte_length}, target,
        target_offset);
  });
}

absl::Status Execute(const Submission& submission,
                     hal::CommandBuffer* command_buffer, size_t binding_count,
                     const takt_buffer_range_t* bindings) {
  absl::InlinedVector<hal::Binding, 8> table;
  for (size_t i = 0; i < binding_count; ++i) {
    const hal::BufferRef range = RangeOf(bindings[i]);
    table.push_back({range.buffer, range.offset, range.length});
  }
  return Submit(submission, [&](const hal::QueueTicket& ticket) {
    return submission.device->QueueExecute(ticket, command_buffer, table);
  });
}

// A call of a host function, and the fence that its end signals.
struct HostCall {
  HostCall(takt_host_call_t call_in, void (*release_in)(void*), void* data)
      : call(call_in), release(release_in), user_data(data) {}
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall() {
    if (armed && release != nullptr) release(user_data);
  }

  const takt_host_call_t call;
  void (*const release)(void*);
  void* const user_data;
  bool armed = true;
};

absl::Status QueueHostCall(const Submission& submission, takt_host_call_t call,
                           void (*release)(void*), void* user_data) {
  auto host_call = std::make_unique<HostCall>(call, release, user_data);
  HostCall* const borrowed = host_call.get();
  absl::AnyInvocable<absl::Status()&&> function =
      [owned = std::move(host_call)]() mutable {
        // Release the function before its fence is signaled.
        const std::unique_ptr<HostCall> mine = std::move(owned);
        return FromStatus(mine->call(mine->user_data));
      };
  bool queued = false;
  absl::Status status = Submit(submission, [&](const hal::QueueTicket& ticket) {
    TAKT_RETURN_IF_ERROR(
        submission.device->QueueHostCall(ticket, std::move(function)));
    queued = true;
    return absl::OkStatus();
  });
  if (!queued) borrowed->armed = false;
  return status;
}

}  // namespace
}  // namespace takt::api

using takt::api::SubmissionOf;
using takt::api::Submit;
using takt::api::ToStatus;
using takt::api::Unwrap;
using takt::hal::QueueTicket;

takt_status_t takt_queue_alloca(takt_device_t* device, takt_fence_t* wait_fence,
                                takt_fence_t* signal_fence, size_t byte_length,
                                const takt_buffer_options_t* options,
                                takt_buffer_t** out_buffer) {
  TAKT_REQUIRE(device, out_buffer);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::Alloca(SubmissionOf(device, wait_fence, signal_fence),
                          byte_length, options),
        out_buffer);
  }
  TAKT_CATCH_ALL(device, out_buffer);
}

takt_status_t takt_queue_dealloca(takt_device_t* device,
                                  takt_fence_t* wait_fence,
                                  takt_fence_t* signal_fence,
                                  takt_buffer_t* buffer) {
  TAKT_REQUIRE(device, buffer);
  TAKT_TRY {
    return ToStatus(__func__,
                    Submit(SubmissionOf(device, wait_fence, signal_fence),
                           [&](const QueueTicket& ticket) {
                             return Unwrap(device)->QueueDealloca(
                                 ticket, Unwrap(buffer));
                           }));
  }
  TAKT_CATCH_ALL(device, buffer);
}

takt_status_t takt_queue_fill(takt_device_t* device, takt_fence_t* wait_fence,
                              takt_fence_t* signal_fence, takt_buffer_t* target,
                              size_t target_offset, size_t byte_length,
                              const void* pattern, size_t pattern_length) {
  TAKT_REQUIRE(device, target, Items(pattern_length, pattern));
  TAKT_TRY {
    return ToStatus(
        __func__,
        takt::api::Fill(SubmissionOf(device, wait_fence, signal_fence),
                        Unwrap(target), target_offset, byte_length, pattern,
                        pattern_length));
  }
  TAKT_CATCH_ALL(device, target, Items(pattern_length, pattern));
}

takt_status_t takt_queue_update(takt_device_t* device, takt_fence_t* wait_fence,
                                takt_fence_t* signal_fence, const void* source,
                                size_t byte_length, takt_buffer_t* target,
                                size_t target_offset) {
  TAKT_REQUIRE(device, Items(byte_length, source), target);
  TAKT_TRY {
    return ToStatus(
        __func__,
        takt::api::Update(SubmissionOf(device, wait_fence, signal_fence),
                          source, byte_length, Unwrap(target), target_offset));
  }
  TAKT_CATCH_ALL(device, Items(byte_length, source), target);
}

takt_status_t takt_queue_copy(takt_device_t* device, takt_fence_t* wait_fence,
                              takt_fence_t* signal_fence, takt_buffer_t* source,
                              size_t source_offset, takt_buffer_t* target,
                              size_t target_offset, size_t byte_length) {
  TAKT_REQUIRE(device, source, target);
  TAKT_TRY {
    return ToStatus(__func__,
                    Submit(SubmissionOf(device, wait_fence, signal_fence),
                           [&](const QueueTicket& ticket) {
                             return Unwrap(device)->QueueCopy(
                                 ticket, Unwrap(source), source_offset,
                                 Unwrap(target), target_offset,
                                 takt::api::LengthOf(byte_length));
                           }));
  }
  TAKT_CATCH_ALL(device, source, target);
}

takt_status_t takt_queue_read(takt_device_t* device, takt_fence_t* wait_fence,
                              takt_fence_t* signal_fence, takt_file_t* source,
                              uint64_t source_offset, takt_buffer_t* target,
                              size_t target_offset, size_t byte_length) {
  TAKT_REQUIRE(device, source, target);
  TAKT_TRY {
    return ToStatus(__func__,
                    Submit(SubmissionOf(device, wait_fence, signal_fence),
                           [&](const QueueTicket& ticket) {
                             return Unwrap(device)->QueueRead(
                                 ticket, Unwrap(source), source_offset,
                                 Unwrap(target), target_offset,
                                 takt::api::LengthOf(byte_length));
                           }));
  }
  TAKT_CATCH_ALL(device, source, target);
}

takt_status_t takt_queue_write(takt_device_t* device, takt_fence_t* wait_fence,
                               takt_fence_t* signal_fence,
                               takt_buffer_t* source, size_t source_offset,
                               takt_file_t* target, uint64_t target_offset,
                               size_t byte_length) {
  TAKT_REQUIRE(device, source, target);
  TAKT_TRY {
    return ToStatus(__func__,
                    Submit(SubmissionOf(device, wait_fence, signal_fence),
                           [&](const QueueTicket& ticket) {
                             return Unwrap(device)->QueueWrite(
                                 ticket, Unwrap(source), source_offset,
                                 Unwrap(target), target_offset,
                                 takt::api::LengthOf(byte_length));
                           }));
  }
  TAKT_CATCH_ALL(device, source, target);
}

takt_status_t takt_queue_execute(takt_device_t* device,
                                 takt_fence_t* wait_fence,
                                 takt_fence_t* signal_fence,
                                 takt_command_buffer_t* command_buffer,
                                 size_t binding_count,
                                 const takt_buffer_range_t* bindings) {
  TAKT_REQUIRE(device, command_buffer, Items(binding_count, bindings));
  TAKT_TRY {
    return ToStatus(
        __func__,
        takt::api::Execute(SubmissionOf(device, wait_fence, signal_fence),
                           Unwrap(command_buffer), binding_count, bindings));
  }
  TAKT_CATCH_ALL(device, command_buffer, Items(binding_count, bindings));
}

takt_status_t takt_queue_barrier(takt_device_t* device,
                                 takt_fence_t* wait_fence,
                                 takt_fence_t* signal_fence) {
  TAKT_REQUIRE(device);
  TAKT_TRY {
    return ToStatus(__func__,
                    Submit(SubmissionOf(device, wait_fence, signal_fence),
                           [&](const QueueTicket& ticket) {
                             return Unwrap(device)->QueueBarrier(ticket);
                           }));
  }
  TAKT_CATCH_ALL(device);
}

takt_status_t takt_queue_host_call(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_host_call_t call, void (*release)(void* user_data), void* user_data) {
  TAKT_REQUIRE(device, call);
  TAKT_TRY {
    return ToStatus(
        __func__,
        takt::api::QueueHostCall(SubmissionOf(device, wait_fence, signal_fence),
                                 call, release, user_data));
  }
  TAKT_CATCH_ALL(device, call);
}

void takt_queue_flush(takt_device_t* device) {
  TAKT_IGNORE_NULL(device);
  TAKT_TRY { Unwrap(device)->QueueFlush(); }
  TAKT_CATCH_ALL_OR(, device);
}
