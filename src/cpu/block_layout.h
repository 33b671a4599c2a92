// A BlockLayout lays arrays out behind an object, in the block of memory that
// holds the object: one allocation for all of them.
//
//   BlockLayout layout(sizeof(Object));
//   const size_t names = layout.Add<Name>(name_count);
//   void* block = pool.Allocate(layout.bytes());
//   absl::Span<Name> span = MakeArray<Name>(block, names, name_count);
#ifndef TAKT_CPU_BLOCK_LAYOUT_H_
#define TAKT_CPU_BLOCK_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "absl/types/span.h"
#include "base/check.h"
#include "base/math.h"

namespace takt::cpu {

class BlockLayout {
 public:
  // The alignment of blocks, and of each array.
  static constexpr size_t kAlignment = 16;

  explicit BlockLayout(size_t object_bytes)
      : bytes_(AlignUp(object_bytes, kAlignment)) {}

  // The offset of an array of `count` elements.
  template <typename T>
  size_t Add(size_t count) {
    static_assert(alignof(T) <= kAlignment);
    const size_t offset = bytes_;
    bytes_ = AlignUp(offset + count * sizeof(T), kAlignment);
    return offset;
  }

  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
};

// Constructs an array at `offset`, which Add() has returned. Its owner destroys
// the elements, if they need it.
template <typename T>
absl::Span<T> MakeArray(void* block, size_t offset, size_t count) {
  TAKT_DCHECK(offset % BlockLayout::kAlignment == 0);
  auto* const first =
      reinterpret_cast<T*>(static_cast<uint8_t*>(block) + offset);
  for (size_t i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) T;
  return absl::MakeSpan(first, count);
}

}  // namespace takt::cpu

#endif  // TAKT_CPU_BLOCK_LAYOUT_H_
