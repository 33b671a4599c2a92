// takt/allocator.h - where an instance gets the memory of buffers from.
#ifndef TAKT_ALLOCATOR_H_
#define TAKT_ALLOCATOR_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

// A caller's source of memory for the contents of device buffers: inputs,
// results, transients, constants that must be copied. Small objects of the
// runtime itself (handles, frames) come from pools over the system's
// allocator, and so stays the number of calls small.
//
// Thread-safety: both functions may be called on any thread, several at once.
typedef struct takt_allocator_t {
  void* user_data;  // Handed to both functions. Borrowed for the life of the
                    // instance and of all its buffers.
  // Memory of at least `byte_length` (not 0) bytes that starts at a multiple
  // of `alignment` (a power of two). NULL: there is none, and the request
  // fails with RESOURCE_EXHAUSTED.
  void* (*allocate)(void* user_data, size_t byte_length, size_t alignment);
  // Takes back what allocate() gave, with the same two numbers.
  void (*free)(void* user_data, void* data, size_t byte_length,
               size_t alignment);
} takt_allocator_t;

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_ALLOCATOR_H_
