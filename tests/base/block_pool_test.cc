#include "base/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace takt {
namespace {

// True if all bytes still have the value that their user wrote.
bool HoldsOnly(const void* block, int value, size_t bytes) {
  const auto* const data = static_cast<const uint8_t*>(block);
  return std::all_of(data, data + bytes, [value](uint8_t byte) {
    return byte == static_cast<uint8_t>(value);
  });
}

TEST(BlockPoolTest, BlocksAreAlignedAndDistinct) {
  UniqueBlockPool pool(BlockPool::Create());
  std::set<void*> blocks;
  for (size_t bytes : {size_t{1}, size_t{16}, size_t{64}, size_t{65},
                       BlockPool::kMaxBlockBytes, BlockPool::kMaxBlockBytes + 1,
                       size_t{1} << 20}) {
    void* block = pool->Allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
    std::memset(block, 0xab, bytes);
    EXPECT_TRUE(blocks.insert(block).second);
  }
  for (void* block : blocks) BlockPool::Free(block);
  BlockPool::Free(nullptr);
}

TEST(BlockPoolTest, GivesTheSameBlockAgain) {
  if (!BlockPool::kRecycles) GTEST_SKIP();
  UniqueBlockPool pool(BlockPool::Create());
  void* block = pool->Allocate(100);
  BlockPool::Free(block);
  EXPECT_EQ(pool->Allocate(128), block);  // Of the same class.
  BlockPool::Free(block);
  void* larger = pool->Allocate(200);
  EXPECT_NE(larger, block);
  BlockPool::Free(larger);
}

TEST(BlockPoolTest, BlocksFreedByAnotherThreadAreReused) {
  if (!BlockPool::kRecycles) GTEST_SKIP();
  UniqueBlockPool pool(BlockPool::Create());
  std::set<void*> seen;
  for (int round = 0; round < 10; ++round) {
    void* blocks[3];
    for (void*& block : blocks) seen.insert(block = pool->Allocate(64));
    std::thread([&] {
      for (void* block : blocks) BlockPool::Free(block);
    }).join();
  }
  EXPECT_LE(seen.size(), 6u);  // And not 30: what is needed, and spares.
}

TEST(BlockPoolTest, BlocksOutliveTheirOwner) {
  BlockPool* pool = BlockPool::Create();
  void* early = pool->Allocate(64);
  void* late = pool->Allocate(64);
  BlockPool::Free(early);
  std::memset(late, 1, 64);
  pool->Close();
  EXPECT_TRUE(HoldsOnly(late, 1, 64));
  std::thread([&] { BlockPool::Free(late); }).join();
}

TEST(BlockPoolTest, TrimKeepsBlocksInUse) {
  UniqueBlockPool pool(BlockPool::Create());
  void* used = pool->Allocate(64);
  std::memset(used, 1, 64);
  BlockPool::Free(pool->Allocate(64));
  pool->Trim();
  void* next = pool->Allocate(64);
  std::memset(next, 2, 64);
  EXPECT_NE(next, used);
  EXPECT_TRUE(HoldsOnly(used, 1, 64));
  BlockPool::Free(next);
  BlockPool::Free(used);
}

// No block is given to two threads at once: each finds what it wrote.
TEST(BlockPoolTest, ManyThreadsAtOnce) {
  UniqueBlockPool pool(BlockPool::Create());
  std::atomic<int> overwritten{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {  // More than there are shards.
    threads.emplace_back([&pool, &overwritten, t] {
      std::vector<void*> blocks;
      for (int i = 0; i < 200; ++i) {
        void* block = pool->Allocate(32 + (i % 4) * 64);
        std::memset(block, t, 32);
        blocks.push_back(block);
        if (i % 3 == 2) {
          overwritten += HoldsOnly(blocks.back(), t, 32) ? 0 : 1;
          BlockPool::Free(blocks.back());
          blocks.pop_back();
        }
      }
      for (void* block : blocks) {
        overwritten += HoldsOnly(block, t, 32) ? 0 : 1;
        BlockPool::Free(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(overwritten, 0);
}

}  // namespace
}  // namespace takt
