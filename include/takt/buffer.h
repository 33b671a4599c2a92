// takt/buffer.h - a range of device memory.
//
// Thread-safety: every function may run on any thread. The caller must order
// reads and writes of the contents. A synchronous call no longer uses its
// buffers when it returns, an asynchronous one when its signal fence is
// reached.
#ifndef TAKT_BUFFER_H_
#define TAKT_BUFFER_H_

#include "takt/device.h"
#include "takt/object.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_buffer_t takt_buffer_t;

// The alignment of every buffer in bytes. Compiled kernels rely on it.
#define TAKT_BUFFER_ALIGNMENT 64

// A length that stands for the rest of the buffer.
#define TAKT_WHOLE_BUFFER SIZE_MAX

// Bits of takt_buffer_options_t::access and of a mapping.
enum {
  TAKT_ACCESS_READ = 1,
  TAKT_ACCESS_WRITE = 2,
  TAKT_ACCESS_ALL = 3,
};

// Called once, on any thread, when the last buffer over wrapped memory has been
// destroyed.
typedef void (*takt_buffer_release_t)(void* user_data);

typedef struct takt_buffer_options_t {
  size_t struct_size;  // Set by init.
  // The kinds of access (TAKT_ACCESS_*) that programs and mappings may use.
  // Default: all.
  uint32_t access;
} takt_buffer_options_t;

static inline void takt_buffer_options_init(takt_buffer_options_t* options) {
  options->struct_size = sizeof(*options);
  options->access = TAKT_ACCESS_ALL;
}

// Allocates a buffer of `byte_length` bytes (0 is allowed) with undefined
// contents.
//
//   options     NULL for the defaults.
//   out_buffer  receives one reference; NULL on error.
//
// Errors: RESOURCE_EXHAUSTED  there is not enough memory.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_allocate(
    takt_device_t* device, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_t** out_buffer);

// Makes a buffer of memory that the caller owns, without a copy.
//
//   data       not NULL unless byte_length is 0; must start at a multiple of
//              TAKT_BUFFER_ALIGNMENT; must live until `release` is called.
//   release    called once with `user_data`, when the last buffer over the
//              memory has been destroyed. NULL: the memory outlives all
//              buffers. Not called if this function fails.
//
// Errors: INVALID_ARGUMENT  the address is not aligned; the message names it.
//                           Copy with takt_buffer_write() instead.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_wrap(
    takt_device_t* device, void* data, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_release_t release,
    void* user_data, takt_buffer_t** out_buffer);

// Makes a buffer over the range [byte_offset, byte_offset + byte_length) of
// `buffer`, which it keeps alive.
//
//   byte_length  TAKT_WHOLE_BUFFER: up to the end of the buffer.
//
// Errors: OUT_OF_RANGE  the range exceeds the buffer.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_buffer_subspan(takt_buffer_t* buffer, size_t byte_offset,
                    size_t byte_length, takt_buffer_t** out_buffer);

// Adds a reference.
TAKT_EXPORT void takt_buffer_retain(takt_buffer_t* buffer);

// Releases a reference; the last one destroys the buffer.
TAKT_EXPORT void takt_buffer_release(takt_buffer_t* buffer);

// Returns the length of the buffer in bytes.
TAKT_EXPORT size_t takt_buffer_byte_length(const takt_buffer_t* buffer);

// A range of a buffer that the host can read or write.
typedef struct takt_mapping_t {
  uint8_t* data;       // NULL when byte_length is 0.
  size_t byte_length;  // The length of the range.
  takt_buffer_t* buffer;
  size_t byte_offset;
  uint32_t access;
} takt_mapping_t;

// Maps a range of the buffer for the host. The mapping shows what programs
// wrote before, and keeps the buffer alive until takt_buffer_unmap().
//
//   access       TAKT_ACCESS_*: the accesses of the host.
//   out_mapping  zeroed on error.
//
// Errors: OUT_OF_RANGE         the range exceeds the buffer.
//         PERMISSION_DENIED    the buffer does not allow the access.
//         FAILED_PRECONDITION  the buffer has no memory: not yet, or not any
//                              more.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_buffer_map(takt_buffer_t* buffer, size_t byte_offset, size_t byte_length,
                uint32_t access, takt_mapping_t* out_mapping);

// Ends the mapping and zeroes it. Programs then see what the host wrote.
TAKT_EXPORT void takt_buffer_unmap(takt_mapping_t* mapping);

// Copies `byte_length` bytes out of the buffer. Errors: as takt_buffer_map().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_read(takt_buffer_t* buffer,
                                                          size_t byte_offset,
                                                          void* target,
                                                          size_t byte_length);

// Copies `byte_length` bytes into the buffer. Errors: as takt_buffer_map().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_buffer_write(takt_buffer_t* buffer, size_t byte_offset, const void* source,
                  size_t byte_length);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_BUFFER_H_
