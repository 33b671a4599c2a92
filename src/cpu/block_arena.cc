#include "cpu/block_arena.h"

#include <algorithm>

#include "base/math.h"

namespace takt::cpu {

BlockArena::~BlockArena() {
  while (blocks_ != nullptr) {
    Block* next = blocks_->next;
    BlockPool::Free(blocks_);
    blocks_ = next;
  }
}

void* BlockArena::Allocate(size_t bytes) {
  const size_t rounded = AlignUp(bytes, 16);
  if (rounded > left_) {
    const size_t block_bytes = std::max(
        rounded + sizeof(Block),
        blocks_ == nullptr ? kFirstBlockBytes : BlockPool::kMaxBlockBytes);
    auto* block = new (pool_.Allocate(block_bytes)) Block{blocks_};
    blocks_ = block;
    position_ = reinterpret_cast<uint8_t*>(block + 1);
    left_ = block_bytes - sizeof(Block);
  }
  void* memory = position_;
  position_ += rounded;
  left_ -= rounded;
  return memory;
}

}  // namespace takt::cpu
