// takt/queue.h - work of a device, ordered by fences and by nothing else.
//
// Each operation returns at once. It starts when its wait fence is reached and
// signals its signal fence when all its effects are visible; operations of one
// device without fences between them run in any order, also at once. The same
// fences order operations of several devices, invocations, timelines and the
// host. Where memory is the host's, a buffer of one device may be used on
// another of the same instance.
//
// The parameters that all of them have:
//
//   wait_fence    borrowed; NULL: reached already. If it fails, the work is
//                 skipped, and the signal fence fails with the same error.
//   signal_fence  borrowed; NULL: tell nobody. A fence with several signallers
//                 counts each operation as one, and a call that fails as one
//                 that failed.
//
// What an operation uses it keeps alive until it is done: handles may be
// released as soon as the call has returned.
//
// Errors: what is wrong with the call itself (ranges, access, states that can
// be known now) is its result; then nothing was queued and no fence is
// touched. What fails later fails the signal fence: FAILED_PRECONDITION for a
// buffer without memory, RESOURCE_EXHAUSTED for memory that is not to be had,
// or what the code of a dispatch fails with.
//
// Thread-safety: every function may run on any thread. None blocks, but an
// operation that can run at once may do so before the call returns.
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

// Reserves `byte_length` bytes. The buffer is there at once, for recording and
// for other operations; its memory is there, with undefined contents, when the
// signal fence is reached, and until it is deallocated or nothing refers to it
// any more. If the device has a budget, the operation waits for its turn
// without a thread: see takt_device_options_t.
//
//   options  NULL for the defaults.
//
// Errors: RESOURCE_EXHAUSTED  more than the device's budget; the message names
//                             both.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_alloca(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    size_t byte_length, const takt_buffer_options_t* options,
    takt_buffer_t** out_buffer);

// Gives the memory of the buffer back, whichever range of it the handle is;
// operations that run meanwhile keep it until they are done. Host memory
// (wrapped, imported) stays where it is.
//
// Errors of the call:      INVALID_ARGUMENT     a buffer that another device
//                                               allocated.
// Errors of the operation: FAILED_PRECONDITION  its memory has been given back
//                                               already, or is not there yet.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_queue_dealloca(takt_device_t* device, takt_fence_t* wait_fence,
                    takt_fence_t* signal_fence, takt_buffer_t* buffer);

// Fills a range with a pattern of 1, 2 or 4 bytes, captured now; it must
// divide offset and length. TAKT_WHOLE_BUFFER: the rest.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_fill(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* target, size_t target_offset, size_t byte_length,
    const void* pattern, size_t pattern_length);

// Writes host bytes, captured now, into the buffer.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_update(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const void* source, size_t byte_length, takt_buffer_t* target,
    size_t target_offset);

// Copies between buffers; ranges of one buffer must not overlap.
// TAKT_WHOLE_BUFFER: the rest of the target.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_copy(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* source, size_t source_offset, takt_buffer_t* target,
    size_t target_offset, size_t byte_length);

// Copies from a file to a buffer. TAKT_WHOLE_BUFFER: the rest of the buffer.
//
// Errors: OUT_OF_RANGE  also past the end of the file.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_read(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_file_t* source, uint64_t source_offset, takt_buffer_t* target,
    size_t target_offset, size_t byte_length);

// Copies from a buffer to a file, which does not grow. TAKT_WHOLE_BUFFER: the
// rest of the buffer.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_write(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_buffer_t* source, size_t source_offset, takt_file_t* target,
    uint64_t target_offset, size_t byte_length);

// Runs a finalized command buffer.
//
//   bindings  the table that its indirect ranges index, one entry a slot: a
//             direct range of a buffer, or all NULL for a slot without use.
//
// Errors: FAILED_PRECONDITION  it still records, or is one-shot and has been
//                              submitted before.
//         INVALID_ARGUMENT     of another kind of device; a slot in use
//                              without a buffer.
//         OUT_OF_RANGE         a binding shorter than what is done with it.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_execute(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_command_buffer_t* command_buffer, size_t binding_count,
    const takt_buffer_range_t* bindings);

// Only fences: signals when the wait fence is reached.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_queue_barrier(takt_device_t* device, takt_fence_t* wait_fence,
                   takt_fence_t* signal_fence);

// A function of the caller's as a queue operation. What it returns, and gives
// up, is the operation's outcome. It runs on whichever thread comes to it,
// perhaps this one, perhaps a worker: it may queue more work, but must not
// wait for any.
typedef takt_status_t (*takt_host_call_t)(void* user_data);

// Runs `call`.
//
//   release  called once with `user_data` when the operation is over, also if
//            it was skipped; may be NULL. Not called if this function fails.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_queue_host_call(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_host_call_t call, void (*release)(void* user_data), void* user_data);

// Starts what has been held back for a thread that may come to wait.
TAKT_EXPORT void takt_queue_flush(takt_device_t* device);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_QUEUE_H_
