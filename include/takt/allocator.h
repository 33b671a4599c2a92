// takt/allocator.h - the caller's own source of memory for buffers.
#ifndef TAKT_ALLOCATOR_H_
#define TAKT_ALLOCATOR_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

// An allocator for the contents of device buffers: inputs, results, transients,
// and constants that must be copied. Small objects of the runtime itself
// (handles, frames) do not use it: they come from pools over the system's
// allocator. The number of calls is therefore small.
//
// Thread-safety: Takt may call both functions on any thread, and on several
// threads at the same time.
typedef struct takt_allocator_t {
  // Passed to both functions. Must live as long as the instance and all of its
  // buffers. A call that is ending may hold both for a moment after the
  // application has released them.
  void* user_data;
  // Returns at least `byte_length` bytes (never 0) that start at a multiple of
  // `alignment`, a power of two. NULL fails the request with
  // RESOURCE_EXHAUSTED.
  void* (*allocate)(void* user_data, size_t byte_length, size_t alignment);
  // Frees memory that allocate() returned; the two numbers are those of the
  // allocation.
  void (*free)(void* user_data, void* data, size_t byte_length,
               size_t alignment);
} takt_allocator_t;

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_ALLOCATOR_H_
