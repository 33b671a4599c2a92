// takt/ring.h - one buffer that short-lived uses share in turn: host bytes of
// one submission after the other.
//
// A range is reserved until a fence, and free again once that is reached or
// has failed; ranges come free in the order in which they were reserved.
//
// Thread-safety: every function may run on any thread. None blocks.
#ifndef TAKT_RING_H_
#define TAKT_RING_H_

#include "takt/buffer.h"
#include "takt/fence.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_ring_t takt_ring_t;

// Makes a ring over a buffer of `byte_length` bytes, allocated now.
//
// Errors: INVALID_ARGUMENT    a byte_length of 0.
//         RESOURCE_EXHAUSTED  as takt_buffer_allocate().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_ring_create(
    takt_device_t* device, size_t byte_length, takt_ring_t** out_ring);

TAKT_EXPORT void takt_ring_retain(takt_ring_t* ring);
TAKT_EXPORT void takt_ring_release(takt_ring_t* ring);

// The buffer that ranges are of. Borrowed.
TAKT_EXPORT takt_buffer_t* takt_ring_buffer(const takt_ring_t* ring);

// A part of the ring. Valid until the fence that it was reserved for.
typedef struct takt_ring_range_t {
  uint8_t* data;       // To be written by the host, before work that reads it
                       // is queued.
  size_t byte_offset;  // In takt_ring_buffer(); a multiple of
                       // TAKT_BUFFER_ALIGNMENT.
  size_t byte_length;
} takt_ring_range_t;

// Reserves `byte_length` bytes until `fence` is reached or has failed.
//
//   fence      borrowed; not NULL: what the work that uses the range signals.
//   out_range  zeroed on error.
//
// Errors: RESOURCE_EXHAUSTED  there is no room now, or never: the message says
//                             which.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_ring_reserve(takt_ring_t* ring, size_t byte_length, takt_fence_t* fence,
                  takt_ring_range_t* out_range);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_RING_H_
