// takt/async.h - calling functions without waiting for them.
//
// takt_async_invoke() returns at once; fences say when the call may begin and
// that it has ended. How a call runs depends on how its function was compiled:
//
//   asynchronous  (takt_signature_is_async()) Its program gets the fences and
//                 runs at once, on the caller's thread, whether or not they
//                 are reached: it only queues device work. Its results are
//                 there when takt_async_invoke() returns; what they hold is
//                 valid once the signal fence is reached.
//   synchronous   Its program runs on a worker once the wait fence is reached,
//                 as a coroutine: where it awaits the device it parks and
//                 holds no thread. Its results are there when it is done.
//
// Programs of one context run one at a time: in the order in which they were
// issued or, if they wait for a fence before, became ready. One that parks
// lets the next one run. Programs of two contexts run at the same time.
//
// Whatever is in flight keeps alive what it needs: the function, its context
// and its instance, the fences and the arguments may all be released.
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
  TAKT_INVOCATION_WAITING = 0,    // For its fences, or for its turn.
  TAKT_INVOCATION_RUNNING = 1,    // Its program runs, or is parked.
  TAKT_INVOCATION_SUBMITTED = 2,  // Its program has ended; the device works.
                                  // Asynchronous functions only.
  TAKT_INVOCATION_DONE = 3,       // It has succeeded, failed or been cancelled.
} takt_invocation_state_t;

// Told once that an invocation is done, after which its signal fence is
// reached or fails. Runs on the thread that brought it about; must not block.
//
//   invocation  borrowed; its results can be taken.
//   status      NULL, or the error, which the callback owns.
typedef void (*takt_invocation_callback_t)(void* user_data,
                                           takt_invocation_t* invocation,
                                           takt_status_t status);

// A fence of one argument or result.
typedef struct takt_indexed_fence_t {
  size_t index;
  takt_fence_t* fence;  // Borrowed; NULL: none.
} takt_indexed_fence_t;

// An argument that is a result of another call, which may still be under way.
typedef struct takt_future_argument_t {
  size_t index;                   // Of the argument.
  takt_invocation_t* invocation;  // Borrowed; of the same instance.
  size_t result_index;
} takt_future_argument_t;

// For moved_arguments: every one.
#define TAKT_MOVE_ALL UINT64_MAX

typedef struct takt_async_options_t {
  size_t struct_size;  // Set by init.

  // As in takt_invoke_options_t. Default: 0, no limit.
  uint64_t step_limit;

  // Bit i: argument i is moved, not lent: on success its reference belongs to
  // the call. When that was the last one (views and buffers of the caller's
  // released), the program may use the storage for something else, or give it
  // back as soon as it has read it. Default: 0. TAKT_MOVE_ALL: all.
  uint64_t moved_arguments;

  // Fences besides the wait fence, each of one argument: the call begins when
  // all of them are reached. Borrowed.
  size_t argument_fence_count;
  const takt_indexed_fence_t* argument_fences;
  // Fences besides the signal fence, each of one result: reached, or failed,
  // together with it. Borrowed.
  size_t result_fence_count;
  const takt_indexed_fence_t* result_fences;

  // Told when the invocation is done. Default: NULL.
  takt_invocation_callback_t on_done;
  void* user_data;

  // As in takt_invoke_options_t. They hold for all that the call does: the
  // parts of its program that workers run, and its device work.
  int32_t priority;
  int64_t deadline_ns;

  // Whether an asynchronous function that waits for fences can still be
  // cancelled once its program has ended. Costs it a fence of its own.
  // Default: true.
  bool cancellable;

  // Lets this call be run as one with others of the same takt_function_t that
  // allow it too and become ready together, if the function carries the
  // attribute "takt.batch_dim"; see docs/async.md. Then its program runs after
  // its fences also if the function is asynchronous. Default: false.
  bool batch;

  // As in takt_invoke_options_t.
  const uint64_t* cpu_words;
  size_t cpu_word_count;
  takt_npu_policy_t npu_policy;
  int64_t npu_time_limit_ns;

  // As in takt_invoke_options_t, from takt_async_invoke() on: the signal fence
  // fails with DEADLINE_EXCEEDED. Such a call can always be cancelled, and is
  // in no batch. Default: 0, never.
  int64_t timeout_ns;

  // Arguments that are still to come: the call begins once those invocations
  // have ended, besides its fences, and without holding a thread. If one of
  // them fails or is cancelled, so does this call, with the same error. Each
  // gets a reference of its own: the other call's results can still be taken,
  // before or after. In `arguments`, the values at these indices are of kind
  // NONE. Such a call is in no batch. Borrowed.
  size_t future_argument_count;
  const takt_future_argument_t* future_arguments;

  // As in takt_invoke_options_t. The results are there when the invocation is
  // done. Such a call is in no batch.
  size_t result_buffer_count;
  const takt_result_buffer_t* result_buffers;
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
//                   its own. What they hold may be written until the wait
//                   fence is reached. An argument that is storage for a result
//                   (iree.abi.output) holds it in the end.
//   wait_fence      borrowed; the function's work begins after it. If it
//                   fails, so does the call, with the same error. NULL: at
//                   once.
//   signal_fence    borrowed; reached once the call is done, or failed with
//                   the first cause. Of a barrier the call takes one share.
//                   NULL: nobody is told.
//   out_invocation  receives one reference; NULL on error. May be NULL itself
//                   if nobody asks for results. Releasing it does not cancel
//                   the call.
//
// Errors; on each of them nothing was invoked or moved:
//   INVALID_ARGUMENT     a count, shape, element type or object differs from
//                        what the function declares, as in "policy.act: input
//                        1: expected 1x64xf32, got 1x32xf32"; an index of a
//                        fence is beyond the arguments or results; a priority
//                        or CPU set that is none, CPUs without workers; a
//                        future argument of an index that there is not, of
//                        another instance, of another kind, or given twice.
//   FAILED_PRECONDITION  a barrier has no share left: the other fences that
//                        the call was to signal fail with this error, since
//                        shares cannot be given back; a call that allows
//                        batching, of a function whose attribute its types
//                        contradict; a result that is to be an argument has
//                        been taken.
// What goes wrong later fails the signal fence: the program's own errors with
// the function's name before them, those of the wait fence and of devices as
// they are.
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

// Borrowed.
TAKT_EXPORT takt_function_t* takt_invocation_function(
    const takt_invocation_t* invocation);

// Where it stands now; by the time the caller looks it may have gone on. DONE
// for NULL.
TAKT_EXPORT takt_invocation_state_t
takt_invocation_state(const takt_invocation_t* invocation);

// Says without waiting whether the invocation is done.
//
// Errors: the one that it ended with.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_query(const takt_invocation_t* invocation, bool* out_done);

// Waits until the invocation is done and its callback has returned, or the
// deadline has passed. This thread helps the workers meanwhile, as in
// takt_fence_wait().
//
//   deadline_ns  on takt_clock_now_ns(); TAKT_INFINITE_FUTURE for none.
//
// Errors: DEADLINE_EXCEEDED  not done by then; nothing is allocated.
//         the one that it ended with.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_wait(takt_invocation_t* invocation, int64_t deadline_ns);

// A fence that is reached when the invocation is done and fails with its
// error: the signal fence's share, or one made for the purpose.
//
//   out_fence  receives one reference.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_fence(takt_invocation_t* invocation, takt_fence_t** out_fence);

// Takes the results, which are there once the program has ended: for an
// asynchronous function that did not have to wait for its turn or park, as
// soon as takt_async_invoke() has returned; else when the invocation is done.
//
//   result_count  takt_signature_result_count().
//   out_results   receive the results; each of kind REF owns a reference, for
//                 takt_values_release(). All NONE on error.
//
// Errors: FAILED_PRECONDITION  they are not there yet, or have been taken.
//         INVALID_ARGUMENT     result_count.
//         the one that the program ended with.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_invocation_take_results(takt_invocation_t* invocation, size_t result_count,
                             takt_value_t* out_results);

// Ends the invocation with CANCELLED, soon:
//   - while it waits for its fences: before this returns;
//   - while its program runs or is parked: when the program leaves the native
//     call that it is in, or some thousand loop rounds later;
//   - once the program of an asynchronous function has ended: as long as the
//     wait fence is not reached (see `cancellable`). The device work that it
//     queued then fails in order, and with it the signal fence.
// Otherwise nothing happens: work that a device has begun is finished, and the
// invocation ends as it would have.
TAKT_EXPORT void takt_invocation_cancel(takt_invocation_t* invocation);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_ASYNC_H_
