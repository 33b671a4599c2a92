#include "base/block_pool.h"

#include <time.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"
#include "base/pause.h"
#include "base/spare_memory.h"

namespace takt {
namespace {

// A small number that differs between threads, so that each has a shard of
// its own to try first.
size_t ThreadIndex() {
  static std::atomic<size_t> next{0};
  thread_local const size_t index = next.fetch_add(1);
  return index;
}

// Waits between two attempts to get a shard. Another thread holds it for a few
// instructions only, so pausing is enough, unless that thread was preempted:
// then sleeping lets it run, even if its priority is lower.
class ShardWait {
 public:
  void Wait() {
    if (round_ < kPauseCount) {
      ++round_;
      Pause();
      return;
    }
    const timespec time{0, kSleepNs};
    nanosleep(&time, nullptr);
  }

 private:
  static constexpr int kPauseCount = 64;    // About 2 us, as in Mutex.
  static constexpr long kSleepNs = 50'000;  // About one wake-up's latency.
  int round_ = 0;
};

}  // namespace

BlockPool::Shard* BlockPool::TryAcquire() {
  const size_t first = ThreadIndex();
  for (size_t i = 0; i < kShardCount; ++i) {
    Shard& shard = shards_[(first + i) % kShardCount];
    if (!shard.held.load(std::memory_order_relaxed) &&
        !shard.held.exchange(true, std::memory_order_acquire)) {
      return &shard;
    }
  }
  return nullptr;
}

void BlockPool::TakeIdle(size_t size_class, Shard& shard) {
  for (Shard& other : shards_) {
    if (&other == &shard || other.held.load(std::memory_order_relaxed) ||
        other.held.exchange(true, std::memory_order_acquire)) {
      continue;
    }
    FreeBlock* list = std::exchange(other.free[size_class], nullptr);
    other.held.store(false, std::memory_order_release);
    if (list == nullptr) continue;
    shard.free[size_class] = list;
    return;
  }
}

void* BlockPool::AllocateFromSystem(size_t bytes) {
  void* memory = std::malloc(sizeof(Header) + bytes);
  if (memory == nullptr) memory = SpareMemory::TakeHere(sizeof(Header) + bytes);
  if (memory == nullptr) ThrowBadAlloc();
  auto* header = static_cast<Header*>(memory);
  *header = Header{nullptr, 0, 0};
  return header + 1;
}

void* BlockPool::Allocate(size_t bytes) {
  if (!kRecycles || bytes > kMaxBlockBytes || bytes == 0) {
    return AllocateFromSystem(bytes);
  }
  Shard* shard = TryAcquire();
  if (shard == nullptr) return AllocateFromSystem(bytes);
  const uint32_t size_class = static_cast<uint32_t>((bytes - 1) / kClassBytes);
  ++shard->outstanding;
  if (shard->free[size_class] == nullptr) TakeIdle(size_class, *shard);
  FreeBlock* block = shard->free[size_class];
  if (block != nullptr) shard->free[size_class] = block->next;
  shard->held.store(false, std::memory_order_release);
  if (block != nullptr) return block;
  const size_t block_bytes = BytesOf(size_class);
  block = MakeBlock(std::malloc(block_bytes), size_class);
  if (__builtin_expect(block != nullptr, 1)) {
    AddSpares(size_class);
    return block;
  }
  block = MakeBlock(SpareMemory::TakeHere(block_bytes), size_class);
  if (block == nullptr) FailAllocation();
  return block;
}

void BlockPool::FailAllocation() {
  Shard& shard = WaitForShard();
  --shard.outstanding;
  shard.held.store(false, std::memory_order_release);
  ThrowBadAlloc();
}

BlockPool::FreeBlock* BlockPool::MakeBlock(void* memory, uint32_t size_class) {
  if (memory == nullptr) return nullptr;
  auto* header = static_cast<Header*>(memory);
  *header = Header{this, size_class, 0};
  return reinterpret_cast<FreeBlock*>(header + 1);
}

void BlockPool::FreeMemory(Header* header) {
  if (!SpareMemory::GiveBack(header)) std::free(header);
}

void BlockPool::AddSpares(uint32_t size_class) {
  FreeBlock* blocks[kSpareCount];
  for (FreeBlock*& block : blocks) {
    block = MakeBlock(std::malloc(BytesOf(size_class)), size_class);
  }
  Shard* shard = TryAcquire();
  for (FreeBlock* block : blocks) {
    if (block == nullptr) continue;
    if (shard == nullptr) {
      FreeMemory(reinterpret_cast<Header*>(block) - 1);
    } else {
      block->next = std::exchange(shard->free[size_class], block);
    }
  }
  if (shard == nullptr) return;
  shard->held.store(false, std::memory_order_release);
}

void BlockPool::Free(void* block) {
  if (block == nullptr) return;
  Header* header = static_cast<Header*>(block) - 1;
  if (header->pool == nullptr) {
    FreeMemory(header);
  } else {
    header->pool->Return(header);
  }
}

BlockPool::Shard& BlockPool::WaitForShard() {
  ShardWait wait;
  Shard* shard = TryAcquire();
  for (; shard == nullptr; shard = TryAcquire()) wait.Wait();
  return *shard;
}

void BlockPool::ReturnAfterClose(Header* header, Shard& shard) {
  shard.held.store(false, std::memory_order_release);
  FreeMemory(header);
  const int64_t before = remaining_.fetch_sub(1, std::memory_order_acq_rel);
  TAKT_CHECK(before >= 1);
  if (before == 1) delete this;
}

void BlockPool::Return(Header* header) {
  Shard* shard = TryAcquire();
  if (__builtin_expect(shard == nullptr, 0)) shard = &WaitForShard();
  if (__builtin_expect(closed_, 0)) return ReturnAfterClose(header, *shard);
  --shard->outstanding;
  auto* block = reinterpret_cast<FreeBlock*>(header + 1);
  block->next = shard->free[header->size_class];
  shard->free[header->size_class] = block;
  shard->held.store(false, std::memory_order_release);
}

void BlockPool::FreeIdleBlocks(Shard& shard) {
  for (FreeBlock*& list : shard.free) {
    while (list != nullptr) {
      FreeBlock* next = list->next;
      FreeMemory(reinterpret_cast<Header*>(list) - 1);
      list = next;
    }
  }
}

void BlockPool::Trim() {
  for (Shard& shard : shards_) {
    if (shard.held.exchange(true, std::memory_order_acquire)) continue;
    FreeIdleBlocks(shard);
    shard.held.store(false, std::memory_order_release);
  }
}

void BlockPool::Close() {
  int64_t outstanding = 1;  // Close() itself.
  for (Shard& shard : shards_) {
    ShardWait wait;
    while (shard.held.exchange(true, std::memory_order_acquire)) wait.Wait();
    outstanding += shard.outstanding;
    FreeIdleBlocks(shard);
  }
  TAKT_CHECK(!closed_ && outstanding >= 1);
  closed_ = true;
  remaining_.store(outstanding, std::memory_order_relaxed);
  for (Shard& shard : shards_) {
    shard.held.store(false, std::memory_order_release);
  }
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace takt
