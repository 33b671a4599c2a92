// takt/base.h - linkage, version and clock, and the rules of the whole C API.
//
// Rules that hold for the whole API, unless a function says otherwise:
//   - A function that can fail returns a takt_status_t. NULL is success. Any
//     other status belongs to the caller, which frees it with
//     takt_status_free(). On error nothing was done, and every out-parameter is
//     NULL (or 0).
//   - Objects are opaque and reference-counted. An out-parameter receives one
//     reference, which the caller releases with takt_<noun>_release().
//     _retain() and _release() may run on any thread at any time, and accept
//     NULL. An object keeps alive all other objects that it needs, so objects
//     may be released in any order.
//   - A pointer must not be NULL unless its function allows it. NULL options,
//     NULL user data and NULL arrays of length 0 are always allowed. Any other
//     NULL is INVALID_ARGUMENT, and the message names the parameter
//     ("list is NULL"). A function that returns no status then does nothing and
//     returns 0, false, NULL or a struct of zeros; a function that returns a
//     text which every object has returns "". Inline functions check nothing.
//   - Arguments are borrowed for the call, unless the contract says *taken*.
//   - Pointers that an accessor returns are borrowed: they live as long as the
//     object they come from. Text is NUL-terminated UTF-8.
//   - An options struct starts with struct_size; takt_<noun>_options_init()
//     fills it with defaults. NULL options stand for the defaults.
//   - No function throws, or keeps state outside the objects that it is given.
//     No caller and no file can make a function abort the process.
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

// Returns the version of the library at run time, such as "0.1.0". Static.
TAKT_EXPORT const char* takt_version(void);

// Returns the present time in nanoseconds of the monotonic clock on which all
// times and deadlines are measured.
TAKT_EXPORT int64_t takt_clock_now_ns(void);

// Returns the time `timeout_ns` from now, for a deadline parameter. A sum that
// is too large gives TAKT_INFINITE_FUTURE; a negative timeout counts as 0.
TAKT_EXPORT int64_t takt_clock_deadline_ns(int64_t timeout_ns);

// Frees a text that a function returned through a `char** out_text`. Does
// nothing for NULL.
TAKT_EXPORT void takt_string_free(char* text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_BASE_H_
