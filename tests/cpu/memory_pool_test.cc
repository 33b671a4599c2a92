#include "cpu/memory_pool.h"

#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(MemoryPoolTest, RoundsUpByLittle) {
  uint64_t before = 0;
  for (uint64_t length = 0; length < 100'000; length += 13) {
    const uint64_t rounded = MemoryPool::RoundedLength(length);
    EXPECT_GE(rounded, length);
    EXPECT_GE(rounded, before);
    EXPECT_EQ(rounded % hal::kBufferAlignment, 0u);
    // A quarter at most, but for the first units.
    if (length > 512) {
      EXPECT_LE(rounded, length + length / 4 + 64);
    }
    before = rounded;
  }
  for (int bits = 10; bits <= 44; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    EXPECT_EQ(MemoryPool::RoundedLength(power), power);
    if (bits == 44) break;
    EXPECT_EQ(MemoryPool::RoundedLength(power + 1), power / 4 * 5);
  }
}

TEST(MemoryPoolTest, AbsurdLengthsAreRefused) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  EXPECT_EQ(MemoryPool::RoundedLength(~uint64_t{0}), 0u);
  EXPECT_EQ(pool->CreateStorage(~uint64_t{0}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool->CreateStorage(uint64_t{1} << 44).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool->statistics().bytes_reserved, 0u);
}

TEST(MemoryPoolTest, GivesTheSameMemoryAgain) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  const uint8_t* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    auto storage = pool->CreateStorage(1000);
    ASSERT_TRUE(storage.ok());
    if (first == nullptr) first = (*storage)->data();
    EXPECT_EQ((*storage)->data(), first);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % hal::kBufferAlignment, 0u);
    std::memset((*storage)->data(), i, 1000);
  }
  const hal::AllocationStatistics statistics = pool->statistics();
  EXPECT_EQ(statistics.allocation_count, 3u);
  EXPECT_EQ(statistics.bytes_reserved, 0u);
  EXPECT_EQ(statistics.bytes_committed, MemoryPool::RoundedLength(1000));
  EXPECT_EQ(statistics.bytes_peak, statistics.bytes_committed);
}

TEST(MemoryPoolTest, TrimCountsEveryClassRight) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  {
    std::vector<Ref<hal::Storage>> storages;
    for (uint64_t length = 0; length < 5'000'000; length = length * 9 / 8 + 7) {
      storages.push_back(*pool->CreateStorage(length));
    }
    pool->Trim();  // Nothing is idle.
    EXPECT_GT(pool->statistics().bytes_committed, 5'000'000u);
  }
  EXPECT_GT(pool->statistics().bytes_committed, 5'000'000u);
  pool->Trim();
  EXPECT_EQ(pool->statistics().bytes_committed, 0u);
}

TEST(MemoryPoolTest, StoragesOutliveTheirPoolsOwner) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  Ref<hal::Storage> storage = *pool->CreateStorage(100);
  pool.reset();
  std::memset(storage->data(), 1, 100);
  auto sibling = storage->CreateSibling();
  ASSERT_TRUE(sibling.ok());
  EXPECT_EQ((*sibling)->byte_length(), 100u);
  EXPECT_NE((*sibling)->data(), storage->data());
}

TEST(MemoryPoolTest, AReservedStorageHasMemoryOnceCommitted) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  UniqueBlockPool blocks(BlockPool::Create());
  Ref<PooledStorage> storage = pool->ReserveStorage(64, *blocks);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(pool->statistics().bytes_reserved, 0u);
  ASSERT_TRUE(pool->CommitStorage(*storage).ok());
  EXPECT_NE(storage->data(), nullptr);
  EXPECT_EQ(pool->statistics().bytes_reserved, 64u);
  storage->Discard();
  EXPECT_EQ(pool->statistics().bytes_reserved, 0u);
  // One that is never committed is fine, too.
  pool->ReserveStorage(64, *blocks);
}

TEST(MemoryPoolTest, ManyThreads) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const uint64_t length = 64 * (1 + (i * 7 + t) % 9);
        auto storage = pool->CreateStorage(length);
        ASSERT_TRUE(storage.ok());
        std::memset((*storage)->data(), t, length);
        EXPECT_EQ((*storage)->data()[length - 1], t);
        if (i % 100 == 0) pool->Trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().bytes_reserved, 0u);
}

}  // namespace
}  // namespace takt::cpu
