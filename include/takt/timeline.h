// takt/timeline.h - a 64-bit value that only grows, for ordering work.
//
// Work waits until a timeline reaches a value, and raises the value at its end.
//
// A reference is the right to signal. When the last reference to the timeline
// and to all fences over it is released, nothing can signal it any more. Then
// every wait for it fails with ABORTED ("forgotten"). A wait itself holds no
// reference.
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

// The greatest value that can be waited for. Compiled code uses the values
// above it to mark a failure.
#define TAKT_TIMELINE_VALUE_MAX 2147483646u

// Makes a timeline that has reached `initial_value`.
//
//   out_timeline  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  `initial_value` is above TAKT_TIMELINE_VALUE_MAX.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_create(uint64_t initial_value, takt_timeline_t** out_timeline);

// Adds a reference.
TAKT_EXPORT void takt_timeline_retain(takt_timeline_t* timeline);

// Releases a reference; the last one destroys the timeline.
TAKT_EXPORT void takt_timeline_release(takt_timeline_t* timeline);

// Names the timeline in errors and explanations.
//
//   name  copied. NULL or "" removes the name.
TAKT_EXPORT void takt_timeline_set_name(takt_timeline_t* timeline,
                                        const char* name);

// Reads the value that the timeline has reached.
//
// Errors: the error that the timeline failed with; *out_value is valid then,
//         too.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_query(const takt_timeline_t* timeline, uint64_t* out_value);

// Raises the timeline to `value`. Work that waited for it starts; some of it
// may run on this thread before the call returns.
//
// Errors: FAILED_PRECONDITION   `value` is not above the value reached.
//         the timeline's error  the timeline has failed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_timeline_signal(takt_timeline_t* timeline, uint64_t value);

// Fails the timeline, and with it all work that waits for it. A timeline that
// has failed keeps its first error.
//
//   status  not NULL; the timeline takes it over.
TAKT_EXPORT void takt_timeline_fail(takt_timeline_t* timeline,
                                    takt_status_t status);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TIMELINE_H_
