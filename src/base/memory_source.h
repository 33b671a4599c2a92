// A MemorySource is where the memory of buffers comes from: the system, unless
// the embedder brings its own.
//
// Thread-safety: its functions may be called on any thread, several at once.
#ifndef TAKT_BASE_MEMORY_SOURCE_H_
#define TAKT_BASE_MEMORY_SOURCE_H_

#include <cstddef>
#include <cstdlib>

namespace takt {

struct MemorySource {
  // At least `byte_length` (not 0, a multiple of `alignment`) bytes at a
  // multiple of `alignment`, a power of two; nullptr if there is no memory.
  void* (*allocate)(void* user_data, size_t byte_length, size_t alignment) =
      [](void*, size_t byte_length, size_t alignment) {
        return std::aligned_alloc(alignment, byte_length);
      };
  // Takes back what allocate() gave, with the same two numbers.
  void (*free)(void* user_data, void* data, size_t byte_length,
               size_t alignment) = [](void*, void* data, size_t, size_t) {
    std::free(data);
  };
  void* user_data = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_MEMORY_SOURCE_H_
