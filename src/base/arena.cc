#include "base/arena.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/math.h"

namespace takt {

void* Arena::Allocate(size_t bytes, size_t alignment) {
  TAKT_DCHECK(IsPowerOfTwo(alignment) && alignment <= kBlockAlignment);
  if (position_ == nullptr && !Grow(bytes)) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(position_);
  uintptr_t aligned = AlignUp(start, alignment);
  if (!RangeFits(aligned - start, bytes,
                 static_cast<size_t>(end_ - position_))) {
    if (!Grow(bytes)) return nullptr;
    start = aligned = reinterpret_cast<uintptr_t>(position_);
  }
  position_ += (aligned - start) + bytes;
  used_bytes_ += (aligned - start) + bytes;
  return reinterpret_cast<void*>(aligned);
}

bool Arena::Grow(size_t bytes) {
  size_t capacity = std::max(bytes, block_bytes_);
  if (!CheckedAlignUp(capacity, kBlockAlignment, &capacity)) return false;
  size_t total = 0;
  if (!CheckedAdd(capacity, kHeaderBytes, &total)) return false;
  auto* block = static_cast<Block*>(std::aligned_alloc(kBlockAlignment, total));
  if (block == nullptr) return false;
  *block = Block{blocks_, capacity};
  blocks_ = block;
  position_ = reinterpret_cast<uint8_t*>(block) + kHeaderBytes;
  end_ = position_ + capacity;
  reserved_bytes_ += total;
  // The next block is larger, so that a few blocks do for any size.
  block_bytes_ =
      std::min<size_t>(std::max(block_bytes_, capacity) * 2, size_t{1} << 20);
  return true;
}

void Arena::FreeFrom(Block* keep) {
  for (Block* block = blocks_; block != nullptr;) {
    Block* next = block->next;
    if (block != keep) {
      reserved_bytes_ -= block->capacity + kHeaderBytes;
      std::free(block);
    }
    block = next;
  }
}

void Arena::Reset() {
  used_bytes_ = 0;
  if (blocks_ == nullptr) return;
  Block* largest = blocks_;
  for (Block* block = blocks_; block != nullptr; block = block->next) {
    if (block->capacity > largest->capacity) largest = block;
  }
  FreeFrom(largest);
  largest->next = nullptr;
  blocks_ = largest;
  position_ = reinterpret_cast<uint8_t*>(largest) + kHeaderBytes;
  end_ = position_ + largest->capacity;
}

}  // namespace takt
