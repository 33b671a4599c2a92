#include "cpu/kernel_scratch.h"

#include <new>

#include "base/check.h"

namespace takt::cpu {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

KernelScratch::~KernelScratch() {
  for (std::atomic<void*>& slot : idle_) {
    ::operator delete(slot.load(std::memory_order_acquire), kAlignment);
  }
}

void* KernelScratch::Take() {
  for (std::atomic<void*>& slot : idle_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    void* const block = slot.exchange(nullptr, std::memory_order_acquire);
    if (block != nullptr) return block;
  }
  return ::operator new(block_bytes_, kAlignment, std::nothrow);
}

void KernelScratch::Return(void* block) {
  TAKT_DCHECK(block != nullptr);
  for (std::atomic<void*>& slot : idle_) {
    void* expected = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(expected, block, std::memory_order_release,
                                     std::memory_order_relaxed)) {
      return;
    }
  }
  ::operator delete(block, kAlignment);
}

}  // namespace takt::cpu
