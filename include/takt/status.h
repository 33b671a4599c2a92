// takt/status.h - the outcome of a call that can fail.
//
// A takt_status_t is as large as a pointer. NULL is success. Any other status
// describes an error and belongs to the caller.
//
// Thread-safety: a status is immutable; one thread frees it.
#ifndef TAKT_STATUS_H_
#define TAKT_STATUS_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

// The kind of an error. Each code has one meaning.
typedef enum takt_status_code_t {
  TAKT_STATUS_OK = 0,
  TAKT_STATUS_CANCELLED = 1,            // The caller cancelled it.
  TAKT_STATUS_UNKNOWN = 2,              // A user's function gave no code.
  TAKT_STATUS_INVALID_ARGUMENT = 3,     // The caller's value, a file's content.
  TAKT_STATUS_DEADLINE_EXCEEDED = 4,    // A wait or time limit.
  TAKT_STATUS_NOT_FOUND = 5,            // No such name or file.
  TAKT_STATUS_ALREADY_EXISTS = 6,       // The name is in use.
  TAKT_STATUS_PERMISSION_DENIED = 7,    // A file, or an access to a buffer.
  TAKT_STATUS_RESOURCE_EXHAUSTED = 8,   // Memory, threads, admission, steps.
  TAKT_STATUS_FAILED_PRECONDITION = 9,  // The state of an object.
  TAKT_STATUS_ABORTED = 10,             // A failed timeline, with its cause.
  TAKT_STATUS_OUT_OF_RANGE = 11,        // An index, or a range of a buffer.
  TAKT_STATUS_UNIMPLEMENTED = 12,       // A feature that Takt lacks.
  TAKT_STATUS_INTERNAL = 13,            // A bug of Takt or of a kernel.
  TAKT_STATUS_UNAVAILABLE = 14,         // No variant fits; a device failed.
  TAKT_STATUS_DATA_LOSS = 15,           // A damaged file.
  TAKT_STATUS_UNAUTHENTICATED = 16,
  TAKT_STATUS_DEFERRED = 17,      // Compiled code: not ready yet.
  TAKT_STATUS_INCOMPATIBLE = 18,  // Compiled code: no device fits.
} takt_status_code_t;

typedef struct takt_status_rep_t* takt_status_t;

// Makes a status, for a native function or a fence that fails.
//
//   code     TAKT_STATUS_OK gives NULL.
//   message  copied; NULL or "": no message, and nothing is allocated.
//
// Never fails: if there is no memory for the message, it is left out.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_status_create(takt_status_code_t code, const char* message);

// Copies a status: its code, message and source. NULL for NULL.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_status_clone(takt_status_t status);

// Frees `status`. Does nothing for NULL and for a status without a message.
TAKT_EXPORT void takt_status_free(takt_status_t status);

// Returns the code; TAKT_STATUS_OK for NULL.
TAKT_EXPORT takt_status_code_t takt_status_code(takt_status_t status);

// Returns the message: the place, what was expected there, and what was found.
// "" for NULL and for a status without a message. Borrowed from `status`.
TAKT_EXPORT const char* takt_status_message(takt_status_t status);

// Returns the name of the API function that made the status, such as
// "takt_context_create"; "" if it is not known. Borrowed from `status`.
TAKT_EXPORT const char* takt_status_source(takt_status_t status);

// Returns the name of a code, such as "INVALID_ARGUMENT"; "?" for a number that
// is not a code. Static.
TAKT_EXPORT const char* takt_status_code_name(takt_status_code_t code);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STATUS_H_
