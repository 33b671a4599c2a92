// takt/file.h - files for the queue operations that read and write them.
//
// A file is mapped into memory. Reading it takes no memory beyond the system's
// page cache, which the system may drop and read again. If another process
// truncates a file in use, the system ends this process (SIGBUS), so copy files
// that may change.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_FILE_H_
#define TAKT_FILE_H_

#include <string.h>

#include "takt/buffer.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_file_t takt_file_t;

typedef struct takt_file_options_t {
  size_t struct_size;  // Set by init.
  // The kinds of access (TAKT_ACCESS_*) that queue operations may use. Default:
  // read.
  uint32_t access;
  // With TAKT_ACCESS_WRITE: creates a file of this length, filled with zeros;
  // an existing file is replaced. Default: 0, an existing file is opened
  // unchanged.
  uint64_t create_byte_length;
} takt_file_options_t;

static inline void takt_file_options_init(takt_file_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->access = TAKT_ACCESS_READ;
}

// Opens and maps the file at `path`. The length of the file object is the
// length at this time; it never changes.
//
//   out_file  receives one reference; NULL on error.
//
// Errors; each message starts with the path:
//   NOT_FOUND, PERMISSION_DENIED, ...  the system's reason.
//   INVALID_ARGUMENT  `path` is not a regular file; `access` has other bits
//                     than TAKT_ACCESS_*; create_byte_length without
//                     TAKT_ACCESS_WRITE.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_file_open(const char* path, const takt_file_options_t* options,
               takt_file_t** out_file);

// Makes a file of memory that the caller owns, without a copy.
//
//   data     not NULL unless byte_length is 0; of any alignment; must live
//            until `release` is called.
//   access   the kinds of access (TAKT_ACCESS_*) that queue operations may use.
//   release  called once, with `user_data`, on any thread, when the last user
//            of the file has released it; may be NULL. Not called if this
//            function fails.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_file_wrap(
    void* data, uint64_t byte_length, uint32_t access,
    takt_buffer_release_t release, void* user_data, takt_file_t** out_file);

// Adds a reference.
TAKT_EXPORT void takt_file_retain(takt_file_t* file);

// Releases a reference; the last one destroys the file.
TAKT_EXPORT void takt_file_release(takt_file_t* file);

// Returns the length of the file in bytes.
TAKT_EXPORT uint64_t takt_file_byte_length(const takt_file_t* file);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_FILE_H_
