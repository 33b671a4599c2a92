// takt/function.h - the exported functions of a context, and synchronous calls.
//
// Thread-safety: every function may run on any thread. Calls of functions of
// one context may overlap: their programs take turns (see takt/async.h).
#ifndef TAKT_FUNCTION_H_
#define TAKT_FUNCTION_H_

#include <string.h>

#include "takt/signature.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_function_t takt_function_t;

// Adds a reference.
TAKT_EXPORT void takt_function_retain(takt_function_t* function);

// Releases a reference; the last one destroys the function.
TAKT_EXPORT void takt_function_release(takt_function_t* function);

// Returns the name, "module.function", borrowed.
TAKT_EXPORT const char* takt_function_name(const takt_function_t* function);

// Returns the signature, borrowed.
TAKT_EXPORT takt_signature_t* takt_function_signature(
    const takt_function_t* function);

// Returns the same function with names, element types and shapes that the
// caller declares: for modules without declarations, such as those from ONNX.
// Calls check arguments against the declaration, and streams allocate storage
// by it; results are not checked.
//
//   declaration   in the form of modules, borrowed:
//                 "sync func @act(%joints: tensor<1x64xf32>)
//                  -> (%torque: tensor<1x12xf32>)", or its part from the first
//                 parenthesis on. Names of values are free; `?` is a dimension
//                 of any size.
//   out_function  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  the declaration cannot be read (the message has the
//                           position); it has another number of inputs or
//                           results than the function, or a tensor where the
//                           function has a number.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_function_declare(takt_function_t* function, const char* declaration,
                      takt_function_t** out_function);

// Finds the index of the argument that is declared under `name`.
//
// Errors: NOT_FOUND  no argument has the name, or several have it; the message
//                    lists the names.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_find_input(
    const takt_function_t* function, const char* name, size_t* out_index);

// Finds the index of the result that is declared under `name`, as
// takt_function_find_input() does for arguments.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_find_output(
    const takt_function_t* function, const char* name, size_t* out_index);

// Returns the value of an attribute such as "takt.deadline_ns", borrowed; NULL
// if the function does not have it.
TAKT_EXPORT const char* takt_function_attribute(const takt_function_t* function,
                                                const char* key);

// Values of options that stand for the function's annotations; without
// annotations, for priority 128 and no deadline.
#define TAKT_PRIORITY_DEFAULT (-1)
#define TAKT_DEADLINE_DEFAULT INT64_MIN

// The reaction to an operation of the call that fails on an NPU; it overrides
// the device's options. Every failure counts towards the quarantine of the NPU
// (quarantine_after in the device's options).
typedef enum takt_npu_policy_t {
  TAKT_NPU_POLICY_DEVICE = 0,          // As the device's options say.
  TAKT_NPU_POLICY_FAIL = 1,            // Fail the fence at once.
  TAKT_NPU_POLICY_RETRY = 2,           // Try again; then fail the fence.
  TAKT_NPU_POLICY_FALLBACK = 3,        // Run it on the CPU at once.
  TAKT_NPU_POLICY_RETRY_FALLBACK = 4,  // Try again; then run it on the CPU.
} takt_npu_policy_t;

// The caller's memory for one result.
typedef struct takt_result_buffer_t {
  size_t index;                     // The index of the result.
  struct takt_buffer_view_t* view;  // Borrowed; of the result's type and shape.
} takt_result_buffer_t;

// A value of memory_limit.
#define TAKT_NO_MEMORY_LIMIT UINT64_MAX

typedef struct takt_invoke_options_t {
  size_t struct_size;  // Set by init.
  // For code that may not terminate. Fails the call with RESOURCE_EXHAUSTED
  // after this number of loop iterations and calls in its bytecode; an
  // instruction on a large range of memory counts as several. All kernels in
  // bytecode together have the same limit once more. Default: 0, no limit.
  uint64_t step_limit;

  // How the call's work competes for the workers (docs/executor.md). These
  // members override the function's annotations.
  //
  // 0 to 255, in classes of 32 (0-31, 32-63, ...): work of a higher class runs
  // first, from the next tile on; work of the same class is not interrupted.
  // Default: TAKT_PRIORITY_DEFAULT, the attribute "takt.priority", else 128.
  int32_t priority;
  // On takt_clock_now_ns(). Within a class, work with an earlier deadline runs
  // first, and work without a deadline last. A deadline that has passed has no
  // other effect. Default: TAKT_DEADLINE_DEFAULT, the time "takt.deadline_ns"
  // after the call, else none. TAKT_INFINITE_FUTURE: none.
  int64_t deadline_ns;
  // The CPUs whose workers may do the call's work: bit i of word w is CPU
  // 64 w + i. Borrowed for the call. Threads of callers then run only the
  // program, and none of its device work. The instance remembers each set that
  // was used. Default: NULL and 0, the attribute "takt.affinity", else the CPUs
  // of the queue, else all.
  const uint64_t* cpu_words;
  size_t cpu_word_count;

  // The reaction to a failure of an NPU. Default: TAKT_NPU_POLICY_DEVICE.
  takt_npu_policy_t npu_policy;
  // An operation of the call that uses an NPU for longer is cancelled. Default:
  // 0, the limit of the device's options. TAKT_INFINITE_FUTURE: no limit.
  int64_t npu_time_limit_ns;

  // The time after which the call is cancelled and fails with
  // DEADLINE_EXCEEDED, which names the function. The program then ends, and its
  // kernels end after the workgroups (on an NPU: after the operation) that are
  // running. The call returns after its last write. Unlike deadline_ns, the
  // time is relative and does not affect the order of work. Not allowed in a
  // call with fences among its arguments, nor in a call that a native function
  // makes to the context that calls it. Default: 0, no limit.
  int64_t timeout_ns;

  // The caller's buffers for results: the call returns these views, and their
  // buffers hold the elements. From the second call of the takt_function_t on,
  // the program writes into a buffer itself if the result is an allocation of
  // its own with a constant size, no work that the program queues may last
  // longer than the call, and the buffer is aligned to TAKT_BUFFER_ALIGNMENT
  // and overlaps no argument. Otherwise the result is copied;
  // takt_function_query_bindings() counts both. During the call and after an
  // error the contents of the buffers are undefined. Borrowed.
  size_t result_buffer_count;
  const takt_result_buffer_t* result_buffers;

  // The largest amount of memory, in bytes, that the program may hold at a
  // time: buffers and lists of its bytecode, and memory that it allocates on
  // devices. A request beyond the limit fails the call with RESOURCE_EXHAUSTED;
  // the message names the function, the size of the request and what is left.
  // Memory counts until it is released, even if that is after the call.
  // Default: 0, the limit of the context. TAKT_NO_MEMORY_LIMIT: no limit.
  uint64_t memory_limit;
} takt_invoke_options_t;

static inline void takt_invoke_options_init(takt_invoke_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
}

// Calls the function and waits for its results. While it waits, the calling
// thread helps with the work.
//
//   options         NULL for the defaults.
//   argument_count  takt_signature_argument_count(). An asynchronous function
//                   may also get its wait and signal fence as two more
//                   arguments. The call then returns when the work is queued,
//                   and the contents of the results are valid once the signal
//                   fence is reached. Without the fences the call waits.
//   arguments       borrowed. A scalar of another kind than the signature's is
//                   converted; a ref may be NULL only if the function accepts
//                   that.
//   result_count    takt_signature_result_count().
//   out_results     receive the results; each of kind REF owns a reference,
//                   for takt_values_release(). All NONE on error.
//
// Errors:
//   INVALID_ARGUMENT  a count, shape, element type or object differs from what
//                     the function declares, as in
//                     "policy.act: input 1: expected 1x64xf32, got 1x32xf32";
//                     an invalid priority or CPU set, CPUs without workers;
//                     a result buffer of another type or shape than the result.
//   FAILED_PRECONDITION  the program keeps a reference to a result buffer;
//                        later calls do not pass it any.
//   DEADLINE_EXCEEDED timeout_ns has passed: "policy.act: not done within
//                     5000000 ns".
//   ABORTED           the call waits for a fence that cannot be signaled any
//                     longer.
//   CANCELLED, ...    the error of the program or of a device.
// Blocks: until the results exist. Allocates: once warm, only the memory of the
// results.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_invoke(
    takt_function_t* function, const takt_invoke_options_t* options,
    size_t argument_count, const takt_value_t* arguments, size_t result_count,
    takt_value_t* out_results);

typedef struct takt_binding_statistics_t {
  size_t struct_size;  // Set by the caller.
  // Results in the caller's buffers: written by the program itself, and copied.
  uint64_t in_place_count;
  uint64_t copied_count;
} takt_binding_statistics_t;

// Reads the counts since the takt_function_t was created.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_query_bindings(
    const takt_function_t* function, takt_binding_statistics_t* out_statistics);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_FUNCTION_H_
