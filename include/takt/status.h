// takt/status.h - the outcome of a call that can fail.
//
// A takt_status_t is as large as a pointer. NULL is success; anything else
// says what went wrong and belongs to the caller.
//
// Thread-safety: a status is immutable; one thread frees it.
#ifndef TAKT_STATUS_H_
#define TAKT_STATUS_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

// What kind of failure. Each code means one thing.
typedef enum takt_status_code_t {
  TAKT_STATUS_OK = 0,
  TAKT_STATUS_CANCELLED = 1,            // The caller asked for it.
  TAKT_STATUS_UNKNOWN = 2,              // A user's function did not say.
  TAKT_STATUS_INVALID_ARGUMENT = 3,     // The caller's value, a file's content.
  TAKT_STATUS_DEADLINE_EXCEEDED = 4,    // A wait.
  TAKT_STATUS_NOT_FOUND = 5,            // A name.
  TAKT_STATUS_ALREADY_EXISTS = 6,       // A name, taken.
  TAKT_STATUS_PERMISSION_DENIED = 7,    // A file, or an access to a buffer.
  TAKT_STATUS_RESOURCE_EXHAUSTED = 8,   // Memory, threads, admission, steps.
  TAKT_STATUS_FAILED_PRECONDITION = 9,  // An object's state.
  TAKT_STATUS_ABORTED = 10,             // A failed timeline, with its cause.
  TAKT_STATUS_OUT_OF_RANGE = 11,        // An index, or a range of a buffer.
  TAKT_STATUS_UNIMPLEMENTED = 12,       // A feature Takt lacks, named.
  TAKT_STATUS_INTERNAL = 13,            // Our own bug, or a kernel's.
  TAKT_STATUS_UNAVAILABLE = 14,         // No variant fits; a device failed.
  TAKT_STATUS_DATA_LOSS = 15,           // A damaged file.
  TAKT_STATUS_UNAUTHENTICATED = 16,
  TAKT_STATUS_DEFERRED = 17,      // Compiled code: not ready yet.
  TAKT_STATUS_INCOMPATIBLE = 18,  // Compiled code: no device fits.
} takt_status_code_t;

typedef struct takt_status_rep_t* takt_status_t;

// A status of a caller's own, for a native function or a fence to fail with.
//
//   code     TAKT_STATUS_OK gives NULL.
//   message  copied; NULL or "": none, and then nothing is allocated.
//
// Never fails: without memory for the message it is left out.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_status_create(takt_status_code_t code, const char* message);

// A status with the same code, message and source, for another owner; NULL for
// NULL.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_status_clone(takt_status_t status);

// Frees `status`. NULL, and statuses without a message, cost nothing.
TAKT_EXPORT void takt_status_free(takt_status_t status);

// The code; TAKT_STATUS_OK for NULL.
TAKT_EXPORT takt_status_code_t takt_status_code(takt_status_t status);

// Where, what was expected, what came. "" for NULL or where there is none.
// Borrowed from `status`.
TAKT_EXPORT const char* takt_status_message(takt_status_t status);

// The function of this API that gave the status, such as
// "takt_context_create"; "" where it is not known.
TAKT_EXPORT const char* takt_status_source(takt_status_t status);

// "INVALID_ARGUMENT". "?" for a number that is no code. Static.
TAKT_EXPORT const char* takt_status_code_name(takt_status_code_t code);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STATUS_H_
