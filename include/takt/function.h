// takt/function.h - an exported function of a context, and calling it.
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

// "module.function".
TAKT_EXPORT const char* takt_function_name(const takt_function_t* function);

// Borrowed.
TAKT_EXPORT takt_signature_t* takt_function_signature(
    const takt_function_t* function);

// The same function with names, element types and shapes that the caller says:
// for modules that carry no declarations, as from ONNX. Calls check them, and
// streams make storage of them; results are not checked against them.
//
//   declaration   as modules carry it: "sync func @act(%joints:
//   tensor<1x64xf32>)
//                 -> (%torque: tensor<1x12xf32>)"; or from the first
//                 parenthesis on. Names of values may be any; `?` is a
//                 dimension of any size. Borrowed.
//   out_function  receives one reference; keeps what it needs of `function`.
//
// Errors: INVALID_ARGUMENT  a declaration that cannot be read, with the
//                           position; another number of inputs or results than
//                           the function has, or a tensor that is a number
//                           there.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_function_declare(takt_function_t* function, const char* declaration,
                      takt_function_t** out_function);

// The index of the argument, or result, that is declared under `name`.
//
// Errors: NOT_FOUND  there is none, or several; the message lists the names.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_find_input(
    const takt_function_t* function, const char* name, size_t* out_index);

// Finds the index of the result that is declared under `name`, as
// takt_function_find_input() does for arguments.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_find_output(
    const takt_function_t* function, const char* name, size_t* out_index);

// The value of an attribute such as "takt.deadline_ns"; NULL without it.
TAKT_EXPORT const char* takt_function_attribute(const takt_function_t* function,
                                                const char* key);

// The function's annotations say, or nothing in particular.
#define TAKT_PRIORITY_DEFAULT (-1)
#define TAKT_DEADLINE_DEFAULT INT64_MIN

// What is done when an NPU fails at an operation of the call, in place of what
// its device's options say. Each failure is counted and, after as many in a row
// as the device's options say, leads to quarantine.
typedef enum takt_npu_policy_t {
  TAKT_NPU_POLICY_DEVICE = 0,          // As the device's options say.
  TAKT_NPU_POLICY_FAIL = 1,            // Fail the fence at once.
  TAKT_NPU_POLICY_RETRY = 2,           // Try again; then fail the fence.
  TAKT_NPU_POLICY_FALLBACK = 3,        // The CPU does it at once.
  TAKT_NPU_POLICY_RETRY_FALLBACK = 4,  // Try again; then the CPU does it.
} takt_npu_policy_t;

// Memory of the caller's for one result.
typedef struct takt_result_buffer_t {
  size_t index;                     // Of the result.
  struct takt_buffer_view_t* view;  // Borrowed; of the result's type and shape.
} takt_result_buffer_t;

typedef struct takt_invoke_options_t {
  size_t struct_size;  // Set by init.
  // Fails the call with RESOURCE_EXHAUSTED after that many loop rounds and
  // calls of its bytecode (what handles much memory at once counts for more).
  // For code that is not trusted to end. Default: 0, no limit.
  uint64_t step_limit;

  // How the call's work competes for the workers: docs/executor.md. These
  // override the function's annotations.
  //
  // 0 to 255, in classes of 32 (0-31, 32-63, ...): work of a higher class goes
  // first, at the next tile; within a class nothing is interrupted. Default:
  // TAKT_PRIORITY_DEFAULT, what "takt.priority" says, else 128.
  int32_t priority;
  // On takt_clock_now_ns(). Of one class, work that is due earlier is taken
  // first, before what has no deadline. A deadline that has passed changes
  // nothing else. Default: TAKT_DEADLINE_DEFAULT, "takt.deadline_ns" after the
  // call, else none. TAKT_INFINITE_FUTURE: none.
  int64_t deadline_ns;
  // The CPUs whose workers may do the call's work: bit i of word w is CPU
  // 64 w + i. Borrowed for the call. Threads of callers do none of it then,
  // but for the program, which runs where it is called. Each set that is used
  // is remembered by the instance. Default: NULL and 0, "takt.affinity", else
  // the queue's, else all.
  const uint64_t* cpu_words;
  size_t cpu_word_count;

  // What happens to the call when an NPU fails at its work. Default:
  // TAKT_NPU_POLICY_DEVICE.
  takt_npu_policy_t npu_policy;
  // An operation of the call's that has an NPU for longer is cancelled.
  // Default: 0, what the device's options say. TAKT_INFINITE_FUTURE: none is.
  int64_t npu_time_limit_ns;

  // The call is cancelled if it is not done so long after it was made, and
  // fails with DEADLINE_EXCEEDED, which names the function. Its program ends,
  // and its kernels end with the workgroups that run (on an NPU: the
  // operation). The call returns after its last write. Unlike deadline_ns, this
  // is relative and has no effect on the order of work. Not in a call with
  // fences of its own among the arguments, nor in a call that a native function
  // makes of the context that calls it. Default: 0, never.
  int64_t timeout_ns;

  // Where results are to lie: these are those views then, and their buffers
  // hold the elements. Where it can be, the program writes there itself, from
  // the second call of the takt_function_t on: if the result is an allocation
  // of its own, of a size that does not change, in memory aligned to
  // TAKT_BUFFER_ALIGNMENT, which no argument overlaps. Else it is copied;
  // takt_function_query_bindings() counts both. What the buffers hold
  // meanwhile, or after an error, is anything. Borrowed.
  size_t result_buffer_count;
  const takt_result_buffer_t* result_buffers;
} takt_invoke_options_t;

static inline void takt_invoke_options_init(takt_invoke_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
}

// Calls the function and waits for its results. While it waits this thread
// helps with the work.
//
//   options         NULL for the defaults.
//   argument_count  takt_signature_argument_count(). An async function may
//                   also be given its wait and signal fence, two more, and
//                   then the call returns as soon as the work is queued: what
//                   the results hold is valid once the signal fence is
//                   reached. Without them it is waited for.
//   arguments       borrowed. A scalar of another kind than the signature's is
//                   converted; a ref may be NULL only where the function takes
//                   that.
//   result_count    takt_signature_result_count().
//   out_results     receive the results; each of kind REF owns a reference,
//                   for takt_values_release(). All NONE on error.
//
// Errors:
//   INVALID_ARGUMENT  a count, shape, element type or object differs from what
//                     the function declares, as in
//                     "policy.act: input 1: expected 1x64xf32, got 1x32xf32";
//                     a priority or CPU set that is none, CPUs without workers;
//                     a result buffer of another type or shape than the result.
//   FAILED_PRECONDITION  the program keeps memory that was to hold a result
//                     only; it is not given any from the next call on.
//   DEADLINE_EXCEEDED timeout_ns has passed: "policy.act: not done within
//                     5000000 ns".
//   ABORTED           nobody is left who could signal what the call waits for.
//   CANCELLED, ...    what the program, or a device, failed with.
// Blocks: until the results are there. Allocates: nothing from the system once
// warm, beyond what the program's results need.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_invoke(
    takt_function_t* function, const takt_invoke_options_t* options,
    size_t argument_count, const takt_value_t* arguments, size_t result_count,
    takt_value_t* out_results);

typedef struct takt_binding_statistics_t {
  size_t struct_size;  // Set by the caller.
  // Results in buffers of the caller's: written there by the program itself,
  // and copied there.
  uint64_t in_place_count;
  uint64_t copied_count;
} takt_binding_statistics_t;

// Since the takt_function_t was found.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_query_bindings(
    const takt_function_t* function, takt_binding_statistics_t* out_statistics);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_FUNCTION_H_
