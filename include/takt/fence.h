// takt/fence.h - a set of (timeline, value) pairs.
//
// A fence is reached when all of its timelines have reached their values, and
// failed as soon as one of them fails. It never changes once made. A NULL
// fence is reached already when waited for; there is nothing to signal.
//
// A barrier is a fence with several signallers: it is reached when each of them
// is done. Whatever signals a fence counts as one signaller of a barrier that
// it gets: takt_fence_signal(), takt_fence_fail(), an invocation.
//
// A fence belongs to no instance: it may be signaled by the work of one and
// waited for by another. Only one made from a file descriptor ends with the
// instance that watches the descriptor.
//
// What waits for a fence does not keep it: once all who could signal have let
// go of it, those who wait get ABORTED, as takt/timeline.h says.
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

// A fence of its own: over a new timeline, reached when that is signaled to 1.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_create(takt_fence_t** out_fence);

// A fence over `point_count` points; it keeps the timelines alive. Of two
// points of one timeline the greater counts.
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

// Says without waiting whether the fence is reached. Allocates nothing unless
// it has failed.
//
// Errors: the one that the fence failed with.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_query(const takt_fence_t* fence, bool* out_reached);

// Raises every timeline of the fence to its value. Of a barrier: counts as one
// signaller.
//
// Errors: as takt_timeline_signal(), the first; the others were raised.
//         INVALID_ARGUMENT     NULL.
//         FAILED_PRECONDITION  a barrier, none of whose signallers is left.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_signal(takt_fence_t* fence);

// Fails every timeline of the fence. Of a barrier: counts as one signaller, and
// the barrier has failed; with no signaller left, what is not reached yet
// fails.
//
//   status  taken; not NULL.
TAKT_EXPORT void takt_fence_fail(takt_fence_t* fence, takt_status_t status);

// Waits until the fence is reached or has failed, or the deadline has passed.
//
//   instance     borrowed; this thread helps its workers while it waits, and
//                without workers it does all of it. NULL: this thread only
//                waits.
//   deadline_ns  on takt_clock_now_ns(); TAKT_INFINITE_FUTURE for none; what
//                has passed already makes it a poll.
//
// Errors: DEADLINE_EXCEEDED     not reached by then; nothing is allocated.
//         the fence's own       if it has failed.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_fence_wait(
    const takt_fence_t* fence, takt_instance_t* instance, int64_t deadline_ns);

// Whether a wait for several fences ends with the first or with the last.
typedef enum takt_fence_wait_mode_t {
  TAKT_FENCE_WAIT_ALL = 0,
  TAKT_FENCE_WAIT_ANY = 1,
} takt_fence_wait_mode_t;

// Waits for several fences: until all are reached, or any is.
//
//   mode         a failed fence ends either wait.
//   fences       `fence_count` of them, borrowed; NULL ones are reached.
//   instance, deadline_ns  as of takt_fence_wait().
//   out_index    receives which fence ended the wait: of TAKT_FENCE_WAIT_ANY
//   the one
//                that was reached or failed (of several the first), of
//                TAKT_FENCE_WAIT_ALL the one that failed; `fence_count` if none
//                has. May be NULL.
//
// Errors: INVALID_ARGUMENT   `mode` is none; TAKT_FENCE_WAIT_ANY of no fences.
//         DEADLINE_EXCEEDED  not reached by then; nothing is allocated.
//         the fence's own    if one has failed.
// Must not be called on a worker's thread (in a callback).
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_wait_many(takt_fence_wait_mode_t mode, size_t fence_count,
                     takt_fence_t* const* fences, takt_instance_t* instance,
                     int64_t deadline_ns, size_t* out_index);

// Gets the outcome of a fence: NULL when it is reached, else its error, which
// the callback owns. Runs on the thread that brings the outcome about; must
// not block.
typedef void (*takt_fence_callback_t)(void* user_data, takt_status_t status);

// Runs `callback` exactly once: at once, on this thread, if the outcome is
// known; else on the thread that brings it about.
TAKT_EXPORT void takt_fence_on_reached(takt_fence_t* fence,
                                       takt_fence_callback_t callback,
                                       void* user_data);

// The values that a read of takt_fence_export_fd()'s descriptor gives.
#define TAKT_FENCE_FD_REACHED 1u
#define TAKT_FENCE_FD_FAILED 2u

// A file descriptor for poll(), epoll or another runtime that becomes readable
// once the fence is reached or has failed, and stays so until it is read.
//
//   fence   borrowed; NULL: readable at once.
//   out_fd  receives a new eventfd, nonblocking and close-on-exec, for the
//           caller to close(), before or after; -1 on error. A read of its 8
//           bytes gives TAKT_FENCE_FD_REACHED or TAKT_FENCE_FD_FAILED; the
//           cause of a failure is takt_fence_query()'s.
//
// Errors: RESOURCE_EXHAUSTED  the process has no file descriptors left.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_export_fd(takt_fence_t* fence, int* out_fd);

// What of a file descriptor reaches a fence.
typedef enum takt_fence_fd_event_t {
  TAKT_FENCE_FD_READABLE = 0,
  TAKT_FENCE_FD_WRITABLE = 1,
} takt_fence_fd_event_t;

// A fence that is reached once a file descriptor is ready: an eventfd, a
// camera, a socket, a sync file of a driver. Nothing is read from it.
//
//   instance   borrowed, not kept: one thread of it, started by the first call,
//              sleeps on all of its descriptors. When the instance goes, the
//              fence fails with CANCELLED.
//   fd         borrowed for the call; a duplicate is watched, so that the
//              caller may close `fd` at any time.
//   out_fence  receives one reference; NULL on error. It fails with ABORTED if
//              the descriptor hangs up or has an error before. Failing it ends
//              the watch.
//
// Errors: INVALID_ARGUMENT    `event` is none; `fd` is no descriptor, or one
//                             that cannot be polled (a file on disk).
//         RESOURCE_EXHAUSTED  no file descriptors or threads left.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_import_fd(takt_instance_t* instance, int fd,
                     takt_fence_fd_event_t event, takt_fence_t** out_fence);

// Names every timeline of the fence that has no name yet; see
// takt_timeline_set_name(). A NULL fence is left alone.
TAKT_EXPORT void takt_fence_set_name(takt_fence_t* fence, const char* name);

// Says for a person what the fence still waits for: of each point its timeline
// by name, the value it has and the value waited for, who is known to signal
// next, and whether anybody is left who could. One line, or one and a line for
// each point; the wording may change.
//
//   out_text  for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_fence_explain(const takt_fence_t* fence, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_FENCE_H_
