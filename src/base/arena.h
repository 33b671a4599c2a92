// An Arena allocates memory that is freed all at once, such as the memory that
// one invocation or one command buffer needs. It grows by blocks. Reset() keeps
// the largest block, so that a second use of the same size takes nothing from
// the system.
//
// Thread-safety: none; an arena belongs to one thread at a time.
#ifndef TAKT_BASE_ARENA_H_
#define TAKT_BASE_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"

namespace takt {

class Arena {
 public:
  // The first block has at least `block_bytes`, made when first needed.
  explicit Arena(size_t block_bytes = 1024) : block_bytes_(block_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { FreeFrom(nullptr); }

  // `alignment` is a power of two of at most 64. The bytes are not set.
  // nullptr if the system has no memory left, or the size overflows.
  void* Allocate(size_t bytes, size_t alignment = 16);

  // `count` zeroed Ts, which are never destroyed; nullptr as Allocate().
  template <typename T>
  T* AllocateArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > SIZE_MAX / sizeof(T)) return nullptr;
    void* memory = Allocate(count * sizeof(T), alignof(T));
    if (memory == nullptr) return nullptr;
    if (count > 0) std::memset(memory, 0, count * sizeof(T));
    return static_cast<T*>(memory);
  }

  // A copy of `source`; an empty span with null data on failure.
  template <typename T>
  absl::Span<T> Copy(absl::Span<const T> source) {
    T* copy = AllocateArray<T>(source.size());
    if (copy == nullptr) return {};
    if (!source.empty()) {
      std::memcpy(copy, source.data(), source.size() * sizeof(T));
    }
    return {copy, source.size()};
  }

  // All allocations become invalid.
  void Reset();

  // Bytes taken from the system now.
  size_t reserved_bytes() const { return reserved_bytes_; }
  // Bytes allocated since the last Reset(), with padding.
  size_t used_bytes() const { return used_bytes_; }

 private:
  struct Block {
    Block* next;
    size_t capacity;  // Bytes behind this header.
  };
  static constexpr size_t kBlockAlignment = 64;
  static constexpr size_t kHeaderBytes = 64;
  static_assert(sizeof(Block) <= kHeaderBytes);

  bool Grow(size_t bytes);
  // Frees every block but `keep` (may be nullptr).
  void FreeFrom(Block* keep);

  Block* blocks_ = nullptr;  // The newest first; allocation is from it.
  uint8_t* position_ = nullptr;
  uint8_t* end_ = nullptr;
  size_t block_bytes_;
  size_t reserved_bytes_ = 0;
  size_t used_bytes_ = 0;
};

}  // namespace takt

#endif  // TAKT_BASE_ARENA_H_
