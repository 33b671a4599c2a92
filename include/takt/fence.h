// takt/fence.h - a set of (timeline, value) pairs.
//
// A fence is reached when all of its timelines have reached their values, and
// fails as soon as one of them fails. Its set of pairs never changes. A wait
// for a NULL fence ends at once; a NULL fence cannot be signaled.
//
// A barrier is a fence with several signallers: it is reached when each of them
// is done. Each takt_fence_signal(), takt_fence_fail() and invocation that gets
// a barrier counts as one signaller.
//
// A fence belongs to no instance: work of one instance may signal it and work
// of another may wait for it. Only a fence made from a file descriptor depends
// on an instance, which watches the descriptor.
//
// A wait does not keep a fence alive. When the last reference of a possible
// signaller is released, the waits end with ABORTED (takt/timeline.h).
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_FENCE_H_
#define TAKT_FENCE_H_

#include "takt/instance.h"
#include "takt/timeline.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_fence_t takt_fence_t;

// One pair of a fence. The timeline is borrowed.
typedef struct takt_timeline_point_t {
  takt_timeline_t* timeline;
  uint64_t value;
} takt_timeline_point_t;

// Makes a fence over a new timeline; it is reached when takt_fence_signal()
// raises the timeline to 1.
//
//   out_fence  receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_create(takt_fence_t** out_fence);

// Makes a fence over `point_count` points. The fence keeps the timelines alive.
// If a timeline has two points, the greater value counts.
//
//   out_fence  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  a NULL timeline, or a value beyond
//                           TAKT_TIMELINE_VALUE_MAX.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_create_from_points(
    size_t point_count, const takt_timeline_point_t* points,
    takt_fence_t** out_fence);

// The largest number of signallers of a barrier.
#define TAKT_FENCE_SIGNALLERS_MAX (1u << 20)

// Makes a barrier: a fence that is reached when `signaller_count` signallers
// are done, in any order, and at once if the count is 0. It fails when one of
// them fails.
//
//   out_fence  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  `signaller_count` beyond
//                           TAKT_FENCE_SIGNALLERS_MAX.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_create_barrier(uint32_t signaller_count, takt_fence_t** out_fence);

// Makes a fence that is reached when all of `fences` are, and fails when one of
// them fails. For signallers that know nothing of barriers, such as compiled
// code that is given a fence as an argument: give each a fence of its own and
// join the fences.
//
//   fences     borrowed; NULL elements are skipped.
//   out_fence  receives one reference; NULL if no fence is left, and on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_join(
    size_t fence_count, takt_fence_t* const* fences, takt_fence_t** out_fence);

// Adds a reference.
TAKT_EXPORT void takt_fence_retain(takt_fence_t* fence);

// Releases a reference; the last one destroys the fence.
TAKT_EXPORT void takt_fence_release(takt_fence_t* fence);

// Reads whether the fence is reached, without waiting. Allocates nothing unless
// the fence has failed.
//
// Errors: the fence's own, if it has failed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_query(const takt_fence_t* fence, bool* out_reached);

// Raises every timeline of the fence to its value. A call on a barrier counts
// as one signaller.
//
// Errors: the first error of takt_timeline_signal(); the other timelines were
//         raised.
//         INVALID_ARGUMENT     a NULL fence.
//         FAILED_PRECONDITION  all signallers of the barrier are done already.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_signal(takt_fence_t* fence);

// Fails every timeline of the fence. A call on a barrier counts as one
// signaller and fails the barrier.
//
//   status  taken; not NULL.
TAKT_EXPORT void takt_fence_fail(takt_fence_t* fence, takt_status_t status);

// Waits until the fence is reached or has failed, or the deadline has passed.
//
//   instance     borrowed; the calling thread runs work of the instance while
//                it waits (all of it, if there are no workers). NULL: the
//                thread only waits.
//   deadline_ns  on takt_clock_now_ns(); TAKT_INFINITE_FUTURE: no deadline. A
//                deadline in the past makes the call a poll.
//
// Errors: DEADLINE_EXCEEDED  the fence was not reached; nothing is allocated.
//         the fence's own, if it has failed.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_wait(
    const takt_fence_t* fence, takt_instance_t* instance, int64_t deadline_ns);

// Whether a wait for several fences ends with the first or with the last.
typedef enum takt_fence_wait_mode_t {
  TAKT_FENCE_WAIT_ALL = 0,
  TAKT_FENCE_WAIT_ANY = 1,
} takt_fence_wait_mode_t;

// Waits for several fences: until all of them, or any of them, is reached.
//
//   mode         a failed fence ends the wait in both modes.
//   fences       `fence_count` fences, borrowed; NULL counts as reached.
//   instance, deadline_ns  as in takt_fence_wait(); `instance` may be NULL.
//   out_index    receives the index of the fence that ended the wait: with
//                TAKT_FENCE_WAIT_ANY the first fence that was reached or
//                failed, with TAKT_FENCE_WAIT_ALL a fence that failed;
//                `fence_count` if there is none. May be NULL.
//
// Errors: INVALID_ARGUMENT   `mode` is not a mode; TAKT_FENCE_WAIT_ANY without
//                            fences.
//         DEADLINE_EXCEEDED  the wait did not end; nothing is allocated.
//         the fence's own, if one has failed.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_wait_many(takt_fence_wait_mode_t mode, size_t fence_count,
                     takt_fence_t* const* fences, takt_instance_t* instance,
                     int64_t deadline_ns, size_t* out_index);

// Receives the outcome of a fence: NULL if it is reached, else its error, which
// the callback owns. Runs on the thread that signals or fails the fence; must
// not block.
typedef void (*takt_fence_callback_t)(void* user_data, takt_status_t status);

// Runs `callback` exactly once: on the calling thread, before the function
// returns, if the fence is reached or has failed; else later, on the thread
// that signals or fails it.
TAKT_EXPORT void takt_fence_on_reached(takt_fence_t* fence,
                                       takt_fence_callback_t callback,
                                       void* user_data);

// The values that a read of takt_fence_export_fd()'s descriptor gives.
#define TAKT_FENCE_FD_REACHED 1u
#define TAKT_FENCE_FD_FAILED 2u

// Makes a file descriptor for poll(), epoll or another runtime. It becomes
// readable when the fence is reached or fails, and stays readable until it is
// read.
//
//   fence   borrowed; NULL: readable at once.
//   out_fd  receives a new eventfd, nonblocking and close-on-exec, for the
//           caller to close() at any time; -1 on error. A read of its 8 bytes
//           gives TAKT_FENCE_FD_REACHED or TAKT_FENCE_FD_FAILED;
//           takt_fence_query() has the cause of a failure.
//
// Errors: RESOURCE_EXHAUSTED  the process has no file descriptors left.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_export_fd(takt_fence_t* fence, int* out_fd);

// The event of a file descriptor that reaches a fence.
typedef enum takt_fence_fd_event_t {
  TAKT_FENCE_FD_READABLE = 0,
  TAKT_FENCE_FD_WRITABLE = 1,
} takt_fence_fd_event_t;

// Makes a fence that is reached when a file descriptor is ready: an eventfd, a
// camera, a socket, a sync file of a driver. Nothing is read from the
// descriptor.
//
//   instance   borrowed, not retained. One thread of the instance, started by
//              the first call, watches all of its descriptors. When the
//              instance is destroyed, the fence fails with CANCELLED.
//   fd         borrowed for the call; a duplicate is watched, so that the
//              caller may close `fd` at any time.
//   out_fence  receives one reference; NULL on error. It fails with ABORTED if
//              the descriptor hangs up or has an error before. Failing the
//              fence ends the watch.
//
// Errors: INVALID_ARGUMENT    `event` is not an event; `fd` is not a
//                             descriptor, or cannot be polled (a file on disk).
//         RESOURCE_EXHAUSTED  no file descriptors or threads left.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_import_fd(takt_instance_t* instance, int fd,
                     takt_fence_fd_event_t event, takt_fence_t** out_fence);

// Names every timeline of the fence that has no name yet; see
// takt_timeline_set_name(). Does nothing for NULL.
TAKT_EXPORT void takt_fence_set_name(takt_fence_t* fence, const char* name);

// Describes, for people, what the fence still waits for: for each point the
// name of its timeline, its present and its awaited value, the next known
// signaller, and whether a possible signaller is left. One line, or one and a
// line for each point; the wording may change. `fence` may be NULL.
//
//   out_text  for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_explain(const takt_fence_t* fence, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_FENCE_H_
