// A MemorySource provides the memory of buffers: the system's, or the
// embedder's own.
//
// Thread-safety: its functions may be called on any thread, several at once.
#ifndef TAKT_BASE_MEMORY_SOURCE_H_
#define TAKT_BASE_MEMORY_SOURCE_H_

#include <cstddef>

namespace takt {

// The system's memory. A large block has pages of its own, so that all of it
// goes back to the system when it is freed; small ones are on the heap.
void* AllocateFromSystem(size_t byte_length, size_t alignment);
void FreeToSystem(void* data, size_t byte_length, size_t alignment);

struct MemorySource {
  // At least `byte_length` (not 0, a multiple of `alignment`) bytes at a
  // multiple of `alignment`, a power of two; nullptr if there is no memory.
  void* (*allocate)(void* user_data, size_t byte_length, size_t alignment) =
      [](void*, size_t byte_length, size_t alignment) {
        return AllocateFromSystem(byte_length, alignment);
      };
  // Takes back what allocate() gave, with the same two numbers.
  void (*free)(void* user_data, void* data, size_t byte_length,
               size_t alignment) = [](void*, void* data, size_t byte_length,
                                      size_t alignment) {
    FreeToSystem(data, byte_length, alignment);
  };
  void* user_data = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_MEMORY_SOURCE_H_
