// takt/async.h - asynchronous calls of functions.
//
// takt_async_invoke() returns without waiting. A wait fence says when the call
// may begin, and a signal fence when it has ended. The way a call runs depends
// on how its function was compiled:
//
//   asynchronous  (takt_signature_is_async()) The program receives the fences
//                 and runs at once, on the caller's thread, even if they are
//                 not reached: it only queues device work. The results exist
//                 when takt_async_invoke() returns; their contents are valid
//                 once the signal fence is reached.
//   synchronous   The program runs on a worker once the wait fence is reached,
//                 as a coroutine: while it waits for the device it is parked
//                 and holds no thread. The results exist when it has ended.
//
// Programs of one context run one at a time, in the order in which they were
// issued or, if they wait for a fence, in which they became ready. While one is
// parked, the next one runs. Programs of two contexts run at the same time.
//
// A call keeps alive all that it needs: the caller may release the function,
// its context and instance, the fences and the arguments.
//
// Thread-safety: every function may run on any thread, and calls of functions
// of one context may overlap.
#ifndef TAKT_ASYNC_H_
#define TAKT_ASYNC_H_

#include <string.h>

#include "takt/fence.h"
#include "takt/function.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_invocation_t takt_invocation_t;

typedef enum takt_invocation_state_t {
  TAKT_INVOCATION_WAITING = 0,    // It waits for its fences or its turn.
  TAKT_INVOCATION_RUNNING = 1,    // Its program runs or is parked.
  TAKT_INVOCATION_SUBMITTED = 2,  // Its program has ended; the device works.
                                  // Asynchronous functions only.
  TAKT_INVOCATION_DONE = 3,       // It has succeeded, failed or been cancelled.
} takt_invocation_state_t;

// Called once when an invocation is done, before its signal fence is reached or
// fails. Runs on the thread that ended the invocation; must not block.
//
//   invocation  borrowed; its results can be taken.
//   status      NULL, or the error, which the callback owns.
typedef void (*takt_invocation_callback_t)(void* user_data,
                                           takt_invocation_t* invocation,
                                           takt_status_t status);

// The fence of one argument or result.
typedef struct takt_indexed_fence_t {
  size_t index;
  takt_fence_t* fence;  // Borrowed; NULL: none.
} takt_indexed_fence_t;

// An argument that is a result of another call, which may still be under way.
typedef struct takt_future_argument_t {
  size_t index;                   // The index of the argument.
  takt_invocation_t* invocation;  // Borrowed; of the same instance.
  size_t result_index;
} takt_future_argument_t;

// A value of moved_arguments: all arguments.
#define TAKT_MOVE_ALL UINT64_MAX

typedef struct takt_async_options_t {
  size_t struct_size;  // Set by init.

  // As in takt_invoke_options_t. Default: 0, no limit.
  uint64_t step_limit;

  // Bit i: argument i is moved, not borrowed: on success its reference belongs
  // to the call. If no other reference to its storage exists, the program may
  // use the storage for another tensor, or free it as soon as it has read it.
  // Default: 0. TAKT_MOVE_ALL: all arguments.
  uint64_t moved_arguments;

  // Further wait fences, each for one argument: the call begins when all of
  // them are reached. Borrowed.
  size_t argument_fence_count;
  const takt_indexed_fence_t* argument_fences;
  // Further signal fences, each for one result: reached, or failed, together
  // with the signal fence. Borrowed.
  size_t result_fence_count;
  const takt_indexed_fence_t* result_fences;

  // Called when the invocation is done. Default: NULL.
  takt_invocation_callback_t on_done;
  void* user_data;

  // As in takt_invoke_options_t. They apply to the parts of the program that
  // workers run, and to the device work.
  int32_t priority;
  int64_t deadline_ns;

  // Whether a call of an asynchronous function can still be cancelled after its
  // program has ended, as long as its wait fence is not reached. This costs one
  // more fence for the call. Default: true.
  bool cancellable;

  // Allows Takt to run this call together with other such calls of the same
  // takt_function_t that become ready at the same time, if the function has the
  // attribute "takt.batch_dim"; see docs/async.md. The program then runs after
  // its fences even if the function is asynchronous. Default: false.
  bool batch;

  // As in takt_invoke_options_t.
  const uint64_t* cpu_words;
  size_t cpu_word_count;
  takt_npu_policy_t npu_policy;
  int64_t npu_time_limit_ns;

  // As in takt_invoke_options_t, counted from takt_async_invoke(). When the
  // time has passed, the signal fence fails with DEADLINE_EXCEEDED. Such a call
  // can always be cancelled, and is never part of a batch. Default: 0, no
  // limit.
  int64_t timeout_ns;

  // Arguments that are results of other invocations. The call begins once those
  // invocations have ended and its fences are reached; it holds no thread until
  // then. If one of them fails or is cancelled, this call fails with the same
  // error. This call has references of its own, so the results of the other
  // invocations can still be taken. In `arguments`, the values at these indices
  // have the kind NONE. Such a call is never part of a batch. Borrowed.
  size_t future_argument_count;
  const takt_future_argument_t* future_arguments;

  // As in takt_invoke_options_t. The buffers hold the results when the
  // invocation is done. Such a call is never part of a batch.
  size_t result_buffer_count;
  const takt_result_buffer_t* result_buffers;

  // As in takt_invoke_options_t. It does not apply to a call that runs in a
  // batch: the batch has the limit of the context. Default: 0, the limit of the
  // context.
  uint64_t memory_limit;
} takt_async_options_t;

static inline void takt_async_options_init(takt_async_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
  options->cancellable = true;
}

// Calls `function` and returns without waiting for it.
//
//   options         NULL for the defaults.
//   argument_count  takt_signature_argument_count(), without fences.
//   arguments       borrowed, unless moved; the invocation holds references of
//                   its own. Their contents may be written until the wait fence
//                   is reached. An argument that is storage for a result
//                   (iree.abi.output) holds the result in the end.
//   wait_fence      borrowed; the function's work begins after it. If it
//                   fails, the call fails with the same error. NULL: the call
//                   begins at once.
//   signal_fence    borrowed; reached when the call is done, or failed with the
//                   first error. A barrier counts the call as one signaller.
//                   NULL: no fence.
//   out_invocation  receives one reference; NULL on error. May itself be NULL
//                   if the results are not needed. The release of the
//                   invocation does not cancel the call.
//
// Errors; on each of them nothing was invoked or moved:
//   INVALID_ARGUMENT     a count, shape, element type or object differs from
//                        what the function declares, as in "policy.act: input
//                        1: expected 1x64xf32, got 1x32xf32"; the index of a
//                        fence is out of range; an invalid priority or CPU set,
//                        or CPUs without workers; a future argument whose index
//                        is out of range, which is of another instance or kind,
//                        or is given twice.
//   FAILED_PRECONDITION  all signallers of a barrier are done already (the
//                        call's other fences then fail with this error); a call
//                        that allows batching of a function whose types
//                        contradict its attribute; a future argument whose
//                        result has been taken.
// Later errors fail the signal fence: errors of the program have the function's
// name before them; errors of the wait fence and of devices are unchanged.
// Blocks: never. Allocates: nothing from the system once warm.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_async_invoke(
    takt_function_t* function, const takt_async_options_t* options,
    size_t argument_count, const takt_value_t* arguments,
    takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    takt_invocation_t** out_invocation);

// Adds a reference.
TAKT_EXPORT void takt_invocation_retain(takt_invocation_t* invocation);

// Releases a reference; the last one destroys the invocation.
TAKT_EXPORT void takt_invocation_release(takt_invocation_t* invocation);

// Returns the function that was called, borrowed.
TAKT_EXPORT takt_function_t* takt_invocation_function(
    const takt_invocation_t* invocation);

// Returns the present state, which may change at any time; DONE for NULL.
TAKT_EXPORT takt_invocation_state_t
takt_invocation_state(const takt_invocation_t* invocation);

// Reads whether the invocation is done, without waiting.
//
// Errors: the invocation's own, if it has failed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_query(const takt_invocation_t* invocation, bool* out_done);

// Waits until the invocation is done and its callback has returned, or the
// deadline has passed. The calling thread helps the workers meanwhile, as in
// takt_fence_wait().
//
//   deadline_ns  on takt_clock_now_ns(); TAKT_INFINITE_FUTURE: no deadline.
//
// Errors: DEADLINE_EXCEEDED  the invocation is not done; nothing is allocated.
//         the invocation's own, if it has failed.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_wait(takt_invocation_t* invocation, int64_t deadline_ns);

// Returns a fence that is reached when the invocation is done, and fails with
// its error.
//
//   out_fence  receives one reference.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_fence(takt_invocation_t* invocation, takt_fence_t** out_fence);

// Takes the results. They exist once the program has ended. The program of an
// asynchronous function has usually ended when takt_async_invoke() returns,
// unless it had to wait for its turn or was parked. In all other cases the
// results exist when the invocation is done.
//
//   result_count  takt_signature_result_count().
//   out_results   receive the results; each of kind REF owns a reference, for
//                 takt_values_release(). All NONE on error.
//
// Errors: FAILED_PRECONDITION  the results do not exist yet, or were taken.
//         INVALID_ARGUMENT     a wrong result_count.
//         the program's own, if it has failed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_take_results(takt_invocation_t* invocation, size_t result_count,
                             takt_value_t* out_results);

// Cancels the invocation, which then ends with CANCELLED:
//   - while it waits for its fences: before the function returns;
//   - while its program runs or is parked: when the program leaves its current
//     native call, or some thousand loop iterations later;
//   - after the program of an asynchronous function has ended: only if the wait
//     fence is not reached yet (see `cancellable`). The device work that it
//     queued then fails in order, and with it the signal fence.
// Otherwise the function has no effect: work that a device has begun is
// finished.
TAKT_EXPORT void takt_invocation_cancel(takt_invocation_t* invocation);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_ASYNC_H_
