// takt/byte_buffer.h - a range of host bytes that modules pass around.
//
// It is the VM's own !vm.buffer (!util.buffer): constants of a module, text,
// host-side scratch. Tensors live in takt_buffer_t.
//
// Thread-safety: every function may run on any thread. The program must order
// reads and writes of the bytes.
#ifndef TAKT_BYTE_BUFFER_H_
#define TAKT_BYTE_BUFFER_H_

#include "takt/object.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_byte_buffer_t takt_byte_buffer_t;

// Allocates `byte_length` bytes that may be written: a copy of `data`, or zeros
// if `data` is NULL. They start at a multiple of 16.
//
//   out_buffer  receives one reference; NULL on error.
//
// Errors: RESOURCE_EXHAUSTED  the memory cannot be allocated.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_byte_buffer_create(
    const void* data, size_t byte_length, takt_byte_buffer_t** out_buffer);

// Adds a reference.
TAKT_EXPORT void takt_byte_buffer_retain(takt_byte_buffer_t* buffer);

// Releases a reference; the last one destroys the byte buffer.
TAKT_EXPORT void takt_byte_buffer_release(takt_byte_buffer_t* buffer);

// Returns the bytes, borrowed. They may be written only if
// takt_byte_buffer_is_mutable().
TAKT_EXPORT uint8_t* takt_byte_buffer_data(const takt_byte_buffer_t* buffer);

// Returns the number of bytes.
TAKT_EXPORT size_t
takt_byte_buffer_byte_length(const takt_byte_buffer_t* buffer);

// Returns whether the bytes may be written. Constants of modules may not.
TAKT_EXPORT bool takt_byte_buffer_is_mutable(const takt_byte_buffer_t* buffer);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_BYTE_BUFFER_H_
