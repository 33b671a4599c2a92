// takt/npu_queue.h - work for an NPU that a program puts together itself, as
// operations of the NPU device's queue: what native modules and applications
// use beside compiled modules.
//
// Each of the takt_npu_queue_*() functions queues one batch: operations that
// run in order and have the NPU together, once the wait fence is reached; then
// the signal fence is. Devices, fences, lifetimes and errors are those of
// takt/queue.h; operands are ranges of buffers of any device of the instance
// that works in host memory.
//
// What the NPU cannot do (type, tile, alignment) the CPU does with the same
// result, and so it does what the NPU fails to do, if the policy says so;
// takt_npu_device_statistics() counts both. Programs only the NPU can run.
//
// Errors of all of these calls; nothing was queued:
//   INVALID_ARGUMENT   the device has no NPU; sizes, strides, types or tiles
//                      that make no sense; a range that is too short for what
//                      is done with it.
//   UNIMPLEMENTED      what neither the NPU nor the CPU can do.
//   OUT_OF_RANGE       a range that its buffer lacks.
//   PERMISSION_DENIED  a buffer that does not allow to be read or written.
// Errors of the operation, which the signal fence fails with: DEADLINE_EXCEEDED
// (the time limit), UNAVAILABLE (it failed, or it is lost, too hot or in
// quarantine), DATA_LOSS (a checksum), and RESOURCE_EXHAUSTED.
//
// Thread-safety: every function may run on any thread. None blocks; a device
// without workers does the work before the call returns.
#ifndef TAKT_NPU_QUEUE_H_
#define TAKT_NPU_QUEUE_H_

#include "takt/command_buffer.h"
#include "takt/fence.h"
#include "takt/function.h"
#include "takt/npu.h"

#if defined(__cplusplus)
extern "C" {
#endif

// How a batch stands among others, and what happens when it fails.
typedef struct takt_npu_batch_options_t {
  size_t struct_size;  // Set by init.
  // As takt_invoke_options_t's: who has the NPU next, and a worker. Default:
  // 128, no deadline.
  int32_t priority;
  int64_t deadline_ns;
  takt_npu_policy_t policy;  // Default: TAKT_NPU_POLICY_DEVICE.
  // An operation of the batch that takes longer is cancelled. Default: 0, what
  // the device's options say. TAKT_INFINITE_FUTURE: none is.
  int64_t time_limit_ns;
} takt_npu_batch_options_t;

static inline void takt_npu_batch_options_init(
    takt_npu_batch_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
}

// The product of matrices that lie row by row:
//   out [m][n] = [out +] left [m][k] * right [k][n]
typedef struct takt_npu_matmul_t {
  takt_npu_type_t type;  // Of left, right and out.
  int64_t m, n, k;
  takt_buffer_range_t left;
  takt_buffer_range_t right;
  takt_buffer_range_t out;  // Overlaps neither of the others.
  // Elements from row to row. 0: the rows follow one another.
  int64_t left_stride;
  int64_t right_stride;
  int64_t out_stride;
  bool right_is_transposed;  // It is [n][k].
  bool accumulate;           // Adds to what is there.
} takt_npu_matmul_t;

// Queues a product of matrices: packs them into tiles that the NPU takes,
// multiplies, and unpacks the result.
//
//   matmul   borrowed for the call. Ranges name buffers, not slots.
//   options  NULL for the defaults.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_matmul(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_matmul_t* matmul, const takt_npu_batch_options_t* options);

// Queues a product of matrices that are tiles already; see takt_npu_mmt4d_t.
//
//   product  borrowed for the call; its own ranges are not looked at.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_mmt4d(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_mmt4d_t* product, const takt_buffer_range_t* left,
    const takt_buffer_range_t* right, const takt_buffer_range_t* out,
    const takt_npu_batch_options_t* options);

// Fills the range, a multiple of 4 bytes at a multiple of 4, with a word.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_fill(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_buffer_range_t* target, uint32_t pattern,
    const takt_npu_batch_options_t* options);

// Copies bytes; ranges of one buffer must not overlap.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_copy(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_buffer_range_t* source, const takt_buffer_range_t* target,
    const takt_npu_batch_options_t* options);

// Runs a function of a program.
//
//   dispatch  borrowed for the call. Its executable is what
//             takt_executable_load() of this device made of a program's bytes
//             under the format "npu-fb", Takt's commands or the vendor's own;
//             its grid is not indirect.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_program(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_dispatch_t* dispatch, const takt_npu_batch_options_t* options);

// Any operations, 256 at most, as a driver gets them, with these differences:
// - a range's `buffer` is an index of the bindings, its `offset` counts from
//   where that binding starts, and its `data` is not looked at. A `byte_length`
//   of 0 is as much as the operation uses; in a program, the rest.
// - the `program` of a program is an index of `programs`.
// - there are no transfers: Takt makes these where they are needed.
typedef struct takt_npu_batch_description_t {
  size_t operation_count;
  const takt_npu_operation_t* operations;
  size_t program_count;
  takt_executable_t* const* programs;  // As of takt_npu_queue_program().
} takt_npu_batch_description_t;

// Queues a batch. What the NPU takes of it goes to the driver as it is, in as
// few pieces as can be; a batch with programs is tried once, and not left to
// the CPU.
//
//   batch     borrowed for the call.
//   bindings  at most 64; all name buffers.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_batch(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_batch_description_t* batch, size_t binding_count,
    const takt_buffer_range_t* bindings,
    const takt_npu_batch_options_t* options);

// Makes device code of a batch that is run again and again: one function
// without constants, for takt_command_buffer_dispatch() with a grid of one.
// Such a dispatch is as urgent as what submits it: of `options` it takes policy
// and time limit.
//
//   binding_count   of each dispatch.
//   out_executable  receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_batch_create(
    takt_device_t* device, const takt_npu_batch_description_t* batch,
    size_t binding_count, const takt_npu_batch_options_t* options,
    takt_executable_t** out_executable);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NPU_QUEUE_H_
