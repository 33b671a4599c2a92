// takt/file.h - bytes that queue reads come from and queue writes go to.
//
// A file is mapped: reading it takes no memory beyond the system's page cache,
// which the system may drop and read again. Another process that truncates a
// file in use brings this one down (SIGBUS); copy files that may change.
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
  // TAKT_ACCESS_*: what queue operations may do. Default: read.
  uint32_t access;
  // With TAKT_ACCESS_WRITE: makes the file of that length, of zeros; one of
  // that name is replaced. Default: 0, a file that exists is taken as it is.
  uint64_t create_byte_length;
} takt_file_options_t;

static inline void takt_file_options_init(takt_file_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->access = TAKT_ACCESS_READ;
}

// Opens and maps the file at `path`. Its length stays what it is now.
//
// Errors; each message starts with the path:
//   NOT_FOUND, PERMISSION_DENIED, ...  the system's reason.
//   INVALID_ARGUMENT  no regular file; access that is no set of TAKT_ACCESS_*
//                     bits; create_byte_length without TAKT_ACCESS_WRITE.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_file_open(const char* path, const takt_file_options_t* options,
               takt_file_t** out_file);

// Memory of the caller's as a file, without a copy.
//
//   data     not NULL unless byte_length is 0; of any alignment; must live
//            until `release` is called.
//   access   TAKT_ACCESS_*: what queue operations may do.
//   release  called once, when nothing uses the file any more, with
//            `user_data`, on any thread; may be NULL. Not called if this
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
