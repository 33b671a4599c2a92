// takt/npu_queue.h - batches of operations for the queue of an NPU's device.
// Native modules and applications use them beside compiled modules.
//
// Each function queues one batch: operations that run in order and hold the NPU
// together. The batch starts when its wait fence is reached, and the signal
// fence is reached when it is done. Devices, fences, lifetimes and errors are
// those of takt/queue.h. Operands are ranges of buffers of any device of the
// instance that works in host memory.
//
// The CPU runs an operation that the NPU does not support (type, tile,
// alignment), with the same result. If the policy allows it, the CPU also runs
// an operation that failed on the NPU. takt_npu_device_statistics() counts
// both. Only the NPU can run programs.
//
// Errors of all of these calls; nothing was queued:
//   INVALID_ARGUMENT   the device has no NPU; invalid sizes, strides, types or
//                      tiles; a range that is too short for the operation.
//   UNIMPLEMENTED      neither the NPU nor the CPU supports the operation.
//   OUT_OF_RANGE       a range is not inside its buffer.
//   PERMISSION_DENIED  a buffer does not allow the read or write.
// The signal fence fails with the error of an operation: DEADLINE_EXCEEDED (the
// time limit), UNAVAILABLE (the operation failed, or the NPU is lost, too hot
// or in quarantine), DATA_LOSS (a checksum), and RESOURCE_EXHAUSTED.
//
// Thread-safety: every function may run on any thread. None blocks; on a device
// without workers the calling thread does the work before the call returns.
#ifndef TAKT_NPU_QUEUE_H_
#define TAKT_NPU_QUEUE_H_

#include "takt/command_buffer.h"
#include "takt/fence.h"
#include "takt/function.h"
#include "takt/npu.h"

#if defined(__cplusplus)
extern "C" {
#endif

// The urgency of a batch, and what happens when it fails.
typedef struct takt_npu_batch_options_t {
  size_t struct_size;  // Set by init.
  // As in takt_invoke_options_t: they decide which batch gets the NPU, or a
  // worker, next. Default: 128, no deadline.
  int32_t priority;
  int64_t deadline_ns;
  takt_npu_policy_t policy;  // Default: TAKT_NPU_POLICY_DEVICE.
  // An operation of the batch that takes longer is cancelled. Default: 0, the
  // limit of the device's options. TAKT_INFINITE_FUTURE: no limit.
  int64_t time_limit_ns;
} takt_npu_batch_options_t;

static inline void takt_npu_batch_options_init(
    takt_npu_batch_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
}

// A product of row-major matrices:
//   out [m][n] = [out +] left [m][k] * right [k][n]
typedef struct takt_npu_matmul_t {
  takt_npu_type_t type;  // The types of left, right and out.
  int64_t m, n, k;
  takt_buffer_range_t left;
  takt_buffer_range_t right;
  takt_buffer_range_t out;  // Overlaps no operand.
  // Elements from row to row. 0: the rows are contiguous.
  int64_t left_stride;
  int64_t right_stride;
  int64_t out_stride;
  bool right_is_transposed;  // `right` is [n][k].
  bool accumulate;           // The product is added to `out`.
} takt_npu_matmul_t;

// Queues a product of matrices: a batch that packs them into tiles that the NPU
// supports, multiplies, and unpacks the result.
//
//   matmul   borrowed for the call. Ranges name buffers, not slots.
//   options  NULL for the defaults.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_matmul(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_matmul_t* matmul, const takt_npu_batch_options_t* options);

// The operations of a batch, 256 at most, in the form that drivers receive
// (takt/npu_driver.h), with these differences:
// - The `buffer` of a range is an index of the bindings, `offset` counts from
//   the start of that binding, and `data` is ignored. A `byte_length` of 0
//   stands for the length that the operation uses; for the operand of a
//   program, for the rest of the binding.
// - The `program` of a program is an index of `programs`.
// - There are no transfers: Takt adds them where they are needed.
typedef struct takt_npu_batch_description_t {
  size_t operation_count;
  const takt_npu_operation_t* operations;
  size_t program_count;
  // Each program comes from takt_executable_load() for this device; its bytes
  // have the format "npu-fb", with Takt's commands or the vendor's.
  takt_executable_t* const* programs;
} takt_npu_batch_description_t;

// Queues a batch. The operations that the NPU supports go to the driver
// unchanged, in as few pieces as possible. A batch with programs is tried once,
// and never on the CPU.
//
//   batch     borrowed for the call.
//   bindings  at most 64, borrowed for the call; all name buffers, not slots.
//   options   NULL for the defaults.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_queue_batch(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_batch_description_t* batch, size_t binding_count,
    const takt_buffer_range_t* bindings,
    const takt_npu_batch_options_t* options);

// Makes an executable of a batch that runs many times. It has one function
// without constants, for takt_command_buffer_dispatch() with a grid of one. The
// dispatch has the urgency of its submission; only the policy and the time
// limit of `options` apply.
//
//   batch           borrowed for the call.
//   binding_count   the number of bindings of each dispatch.
//   options         NULL for the defaults.
//   out_executable  receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_batch_create(
    takt_device_t* device, const takt_npu_batch_description_t* batch,
    size_t binding_count, const takt_npu_batch_options_t* options,
    takt_executable_t** out_executable);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NPU_QUEUE_H_
