// takt/queue.h - the work of a device, which only fences order.
//
// A call queues one operation and returns. The operation starts when its wait
// fence is reached, and signals its signal fence when all its effects are
// visible. Operations of one device without fences between them run in any
// order, and several may run at the same time. The same fences order operations
// of several devices, invocations, timelines and the host. A buffer in host
// memory may be used on any device of the same instance.
//
// The parameters that all operations have:
//
//   wait_fence    borrowed. NULL: the operation starts at once. If the fence
//                 fails, the operation is skipped, and its signal fence fails
//                 with the same error.
//   signal_fence  borrowed. NULL: nothing is signaled. On a fence with several
//                 signallers each operation counts as one of them, and a call
//                 that fails counts as one that failed.
//
// An operation keeps the objects that it uses alive until its end. So handles
// may be released as soon as the call has returned.
//
// Errors: the call returns the errors that can be known at once, such as a
// wrong range, access or state. Then nothing was queued, and no fence has
// changed. Later errors fail the signal fence: FAILED_PRECONDITION for a buffer
// without memory, RESOURCE_EXHAUSTED for memory that cannot be allocated, or
// the error of a dispatch's code.
//
// Thread-safety: every function may run on any thread. None blocks, but an
// operation that can start at once may run before the call returns.
#ifndef TAKT_QUEUE_H_
#define TAKT_QUEUE_H_

#include "takt/buffer.h"
#include "takt/command_buffer.h"
#include "takt/device.h"
#include "takt/fence.h"
#include "takt/file.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Reserves `byte_length` bytes. The call returns the buffer at once, so that it
// can be recorded and used by other operations. The buffer has memory, with
// undefined contents, from the signal fence on, until it is deallocated or its
// last reference is released. If the device has a budget, the operation waits
// for its turn without a thread (see takt_device_options_t).
//
//   options     NULL for the defaults.
//   out_buffer  receives one reference; NULL on error.
//
// Errors: RESOURCE_EXHAUSTED  the size exceeds the device's budget; the message
//                             names both.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_alloca(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    size_t byte_length, const takt_buffer_options_t* options,
    takt_buffer_t** out_buffer);

// Gives all memory of the buffer back, also if the handle is for a part of it.
// Operations that run at that time keep the memory until their end. Host memory
// that was wrapped or imported stays as it is.
//
// Errors of the call:      INVALID_ARGUMENT     another device allocated the
//                                               buffer.
// Errors of the operation: FAILED_PRECONDITION  the buffer has no memory: not
//                                               yet, or not any more.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_queue_dealloca(takt_device_t* device, takt_fence_t* wait_fence,
                    takt_fence_t* signal_fence, takt_buffer_t* buffer);

// Fills a range with a pattern of 1, 2 or 4 bytes. The call copies the pattern.
// Its length must divide the offset and the length of the range.
//
//   byte_length  TAKT_WHOLE_BUFFER: up to the end of the buffer.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_fill(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* target, size_t target_offset, size_t byte_length,
    const void* pattern, size_t pattern_length);

// Writes bytes of the host into the buffer. The call copies them.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_update(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const void* source, size_t byte_length, takt_buffer_t* target,
    size_t target_offset);

// Copies a range of a buffer to another one, or within one buffer if the ranges
// do not overlap.
//
//   byte_length  TAKT_WHOLE_BUFFER: up to the end of the target.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_copy(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* source, size_t source_offset, takt_buffer_t* target,
    size_t target_offset, size_t byte_length);

// Copies a range of a file to a buffer.
//
//   byte_length  TAKT_WHOLE_BUFFER: up to the end of the buffer.
//
// Errors: OUT_OF_RANGE  a range exceeds the buffer or the file.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_read(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_file_t* source, uint64_t source_offset, takt_buffer_t* target,
    size_t target_offset, size_t byte_length);

// Copies a range of a buffer to a file. The file does not grow.
//
//   byte_length  TAKT_WHOLE_BUFFER: up to the end of the buffer.
//
// Errors: OUT_OF_RANGE  a range exceeds the buffer or the file.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_write(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* source, size_t source_offset, takt_file_t* target,
    uint64_t target_offset, size_t byte_length);

// Runs a finalized command buffer.
//
//   bindings  one entry for each slot of the command buffer: a range of a
//             buffer, or all NULL for a slot that is not used. The indirect
//             ranges of commands refer to it.
//
// Errors: FAILED_PRECONDITION  the command buffer is not finalized, or is
//                              one-shot and has been submitted before.
//         INVALID_ARGUMENT     the command buffer is for another kind of
//                              device, or a slot in use has no buffer.
//         OUT_OF_RANGE         a command exceeds the range of a binding.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_execute(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_command_buffer_t* command_buffer, size_t binding_count,
    const takt_buffer_range_t* bindings);

// Does no work: signals the signal fence when the wait fence is reached.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_queue_barrier(takt_device_t* device, takt_fence_t* wait_fence,
                   takt_fence_t* signal_fence);

// A function of the application that runs as a queue operation. Its result is
// the outcome of the operation, which takes it over. It runs on the thread that
// reaches it first, which may be the calling thread or a worker. It may queue
// more work, but must not wait for any.
typedef takt_status_t (*takt_host_call_t)(void* user_data);

// Queues a call of `call`.
//
//   release  called once with `user_data` at the end of the operation, also if
//            the operation was skipped; may be NULL. Not called if this
//            function fails.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_host_call(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_host_call_t call, void (*release)(void* user_data), void* user_data);

// Starts operations that the device holds back. It holds some back for a short
// time, because the calling thread may run them itself as soon as it waits.
TAKT_EXPORT void takt_queue_flush(takt_device_t* device);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_QUEUE_H_
