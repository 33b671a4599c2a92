// A BlockArena hands out memory from blocks of a BlockPool, and returns them
// all at its end: records of a command buffer that is made anew in each
// invocation cost the system nothing.
//
// Thread-safety: none; an arena belongs to one thread at a time.
#ifndef TAKT_CPU_BLOCK_ARENA_H_
#define TAKT_CPU_BLOCK_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "base/block_pool.h"

namespace takt::cpu {

class BlockArena {
 public:
  // `pool` is borrowed and outlives the arena's last allocation.
  explicit BlockArena(BlockPool& pool) : pool_(pool) {}
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;
  ~BlockArena();

  // Aligned to 16; not set.
  void* Allocate(size_t bytes);

  // Never destroyed.
  template <typename T, typename... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 16);
    return new (Allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }
  // Zeroed.
  template <typename T>
  T* NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 16);
    void* memory = Allocate(count * sizeof(T));
    if (count > 0) std::memset(memory, 0, count * sizeof(T));
    return static_cast<T*>(memory);
  }
  template <typename T>
  T* Copy(absl::Span<const T> source) {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory = Allocate(source.size() * sizeof(T));
    if (!source.empty()) {
      std::memcpy(memory, source.data(), source.size() * sizeof(T));
    }
    return static_cast<T*>(memory);
  }

 private:
  struct alignas(16) Block {
    Block* next;
  };
  static constexpr size_t kFirstBlockBytes = 512;

  BlockPool& pool_;
  Block* blocks_ = nullptr;  // The newest first; allocation is from it.
  uint8_t* position_ = nullptr;
  size_t left_ = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_BLOCK_ARENA_H_
