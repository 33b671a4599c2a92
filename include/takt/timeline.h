// takt/timeline.h - a 64-bit value that only grows, for ordering work.
//
// Work waits for a timeline to reach a value and raises it when done.
//
// A reference is the right to signal. When the last one goes, of the timeline
// and of every fence over it, whoever still waits gets ABORTED ("forgotten"):
// nobody is left who could signal. Waiting itself holds no reference.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_TIMELINE_H_
#define TAKT_TIMELINE_H_

#include "takt/object.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_timeline_t takt_timeline_t;

// The greatest value that can be waited for; compiled code marks failure with
// what lies above.
#define TAKT_TIMELINE_VALUE_MAX 2147483646u

// Errors: INVALID_ARGUMENT  `initial_value` beyond TAKT_TIMELINE_VALUE_MAX.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_create(uint64_t initial_value, takt_timeline_t** out_timeline);

// Adds a reference.
TAKT_EXPORT void takt_timeline_retain(takt_timeline_t* timeline);

// Releases a reference; the last one destroys the timeline.
TAKT_EXPORT void takt_timeline_release(takt_timeline_t* timeline);

// What explanations and errors call the timeline.
//
//   name  copied; NULL or "": none, as at first.
TAKT_EXPORT void takt_timeline_set_name(takt_timeline_t* timeline,
                                        const char* name);

// The value reached.
//
// Errors: the one that the timeline failed with; *out_value is valid all the
// same.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_query(const takt_timeline_t* timeline, uint64_t* out_value);

// Raises the timeline to `value`; who waits for it goes on, in part on this
// thread.
//
// Errors: FAILED_PRECONDITION  `value` is not above the value reached.
//         the timeline's own   if it has failed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_signal(takt_timeline_t* timeline, uint64_t value);

// Fails the timeline, and with it all that waits for it. A timeline that has
// failed already keeps its first error.
//
//   status  taken; not NULL.
TAKT_EXPORT void takt_timeline_fail(takt_timeline_t* timeline,
                                    takt_status_t status);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TIMELINE_H_
