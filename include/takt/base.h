// takt/base.h - what every header of the C API needs: linkage, version, clock.
//
// Rules that hold for the whole API, unless a function says otherwise:
//   - A function that can fail returns a takt_status_t: NULL is success, else
//     the caller owns it and frees it with takt_status_free(). On error
//     nothing was done and every out-parameter is NULL (or 0).
//   - Objects are opaque and reference-counted. A function that gives one
//     through an out-parameter gives one reference, for takt_<noun>_release().
//     _retain() and _release() may run on any thread at any time, and accept
//     NULL. What an object needs it keeps alive itself: release in any order.
//   - A pointer must not be NULL unless its function says that it may be. A
//     NULL handle, out-parameter or other pointer is INVALID_ARGUMENT, whose
//     message names the parameter ("list is NULL"). A function without a status
//     then does nothing and returns 0, false, NULL or a struct of zeros; text
//     that every object has is "". Always allowed are NULL options, user data,
//     and arrays of length 0. Inline functions check nothing.
//   - Arguments are borrowed for the call, unless the contract says *taken*.
//   - Pointers that an accessor returns are borrowed: they live as long as the
//     object they come from. Text is NUL-terminated UTF-8.
//   - An options struct starts with struct_size; takt_<noun>_options_init()
//     fills it with defaults. NULL options are the defaults.
//   - No function throws, aborts on what a caller or a file can cause, or
//     keeps state outside the objects it is given.
//   - Time is in nanoseconds of takt_clock_now_ns().
#ifndef TAKT_BASE_H_
#define TAKT_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_EXPORT __attribute__((visibility("default")))
#if defined(__cplusplus) && __cplusplus >= 201703L
#define TAKT_NODISCARD [[nodiscard]]  // Comes before TAKT_EXPORT.
#else
#define TAKT_NODISCARD __attribute__((warn_unused_result))
#endif

// The version of these headers. Before 1.0 a new minor version may change the
// ABI, and the shared library's SONAME changes with it.
#define TAKT_VERSION_MAJOR 0
#define TAKT_VERSION_MINOR 1
#define TAKT_VERSION_PATCH 0

// A deadline that never passes.
#define TAKT_INFINITE_FUTURE INT64_MAX

#if defined(__cplusplus)
extern "C" {
#endif

// The version of the library that runs, such as "0.1.0".
TAKT_EXPORT const char* takt_version(void);

// The monotonic clock that all times and deadlines are measured on.
TAKT_EXPORT int64_t takt_clock_now_ns(void);

// The time `timeout_ns` from now, saturating: what a deadline parameter takes.
// A negative timeout is no time at all.
TAKT_EXPORT int64_t takt_clock_deadline_ns(int64_t timeout_ns);

// Frees text that a function gave through a `char** out_text`. NULL: no-op.
TAKT_EXPORT void takt_string_free(char* text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_BASE_H_
