#include "cpu/memory_pool.h"

#include <cstring>
#include <thread>
#include <vector>

#include "base/timer_heap.h"
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

// Time that passes when the test says so.
class ManualTimers final : public TimerService {
 public:
  void Arm(Timer* timer, int64_t deadline_ns) override {
    heap_.Push(timer, deadline_ns);
  }
  bool Cancel(Timer* timer) override { return heap_.Remove(timer); }
  bool idle() const { return heap_.empty(); }
  // Fires what is armed now.
  void Pass() {
    std::vector<Timer*> due;
    while (Timer* timer = heap_.PopDue(INT64_MAX)) due.push_back(timer);
    for (Timer* timer : due) timer->fire(timer);
  }

 private:
  TimerHeap heap_;
};

TEST(MemoryPoolTest, UnusedMemoryIsReturnedAfterAWhile) {
  auto timers = std::make_shared<ManualTimers>();
  MemoryPool::Options options;
  options.idle_ns = 1000;
  options.timers = timers;
  Ref<MemoryPool> pool = MemoryPool::Create(options);
  const auto committed = [&] { return pool->statistics().bytes_committed; };
  EXPECT_TRUE(timers->idle());
  {
    Ref<hal::Storage> once = *pool->CreateStorage(1024);
    Ref<hal::Storage> often = *pool->CreateStorage(1024);
  }
  EXPECT_EQ(committed(), 2048u);
  timers->Pass();  // Both were in use at some time since the last one.
  EXPECT_EQ(committed(), 2048u);
  static_cast<void>(pool->CreateStorage(1024));
  timers->Pass();  // One was enough.
  EXPECT_EQ(committed(), 1024u);
  EXPECT_EQ(pool->statistics().bytes_idle, 1024u);
  timers->Pass();
  EXPECT_EQ(committed(), 0u);
  EXPECT_TRUE(timers->idle());
  static_cast<void>(pool->CreateStorage(64));
  EXPECT_FALSE(timers->idle());
  pool->Retire();
  EXPECT_TRUE(timers->idle());
  EXPECT_EQ(committed(), 0u);
  EXPECT_TRUE(pool->IsUnique());
}

TEST(MemoryPoolTest, AnArmedTimerKeepsThePool) {
  auto timers = std::make_shared<ManualTimers>();
  MemoryPool::Options options;
  options.idle_ns = 1000;
  options.timers = timers;
  static_cast<void>(MemoryPool::Create(options)->CreateStorage(64));
  EXPECT_FALSE(timers->idle());
  timers->Pass();
  timers->Pass();
  EXPECT_TRUE(timers->idle());  // And the pool is gone: ASan looks.
}

TEST(MemoryPoolTest, KeepsNoMoreIdleThanAllowed) {
  MemoryPool::Options options;
  options.idle_bytes_max = 1500;
  Ref<MemoryPool> pool = MemoryPool::Create(options);
  {
    Ref<hal::Storage> a = *pool->CreateStorage(1024);
    Ref<hal::Storage> b = *pool->CreateStorage(1024);
    Ref<hal::Storage> c = *pool->CreateStorage(256);
    EXPECT_EQ(pool->statistics().bytes_idle, 0u);
  }
  EXPECT_EQ(pool->statistics().bytes_idle, 1280u);
  EXPECT_EQ(pool->statistics().bytes_committed, 1280u);
}

TEST(MemoryPoolTest, ABudgetCountsUseAndIdleTogether) {
  MemoryPool::Options options;
  options.budget_bytes = 1'000'000;
  Ref<MemoryPool> pool = MemoryPool::Create(options);
  // By their classes, these would not fit together.
  { Ref<hal::Storage> idle = *pool->CreateStorage(300'000); }
  EXPECT_EQ(pool->statistics().bytes_idle, 303'104u);  // Whole pages.
  {
    Ref<hal::Storage> a = *pool->CreateStorage(500'000);
    Ref<hal::Storage> b = *pool->CreateStorage(480'000);
    EXPECT_EQ(pool->statistics().bytes_idle, 0u);  // It was in the way.
    const absl::Status status = pool->CreateStorage(20'000).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_LE(pool->statistics().bytes_peak, 1'000'000u);
  EXPECT_EQ(pool->CreateStorage(1'000'001).status().code(),
            absl::StatusCode::kResourceExhausted);
  const hal::AllocationStatistics statistics = pool->statistics();
  EXPECT_EQ(statistics.bytes_budget, 1'000'000u);
  EXPECT_EQ(statistics.bytes_reserved, 0u);
}

TEST(MemoryPoolTest, AnAllocationThatFailsGivesItsBudgetBack) {
  MemoryPool::Options options;
  options.budget_bytes = 1000;
  options.source.allocate = [](void*, size_t, size_t) -> void* {
    return nullptr;
  };
  Ref<MemoryPool> pool = MemoryPool::Create(options);
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = pool->CreateStorage(900).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(status.message(), "the system has no 900 bytes left");
  }
  EXPECT_EQ(pool->statistics().bytes_committed, 0u);
  EXPECT_EQ(pool->budget()->statistics().bytes_in_use, 0u);
}

TEST(MemoryPoolTest, PreparesForSeveralAtOnce) {
  Ref<MemoryPool> pool = MemoryPool::Create();
  const uint64_t lengths[] = {1024, 1024, 5'000'000};
  ASSERT_TRUE(pool->Prepare(lengths).ok());
  const hal::AllocationStatistics before = pool->statistics();
  EXPECT_EQ(before.bytes_reserved, 0u);
  {
    Ref<hal::Storage> a = *pool->CreateStorage(1024);
    Ref<hal::Storage> b = *pool->CreateStorage(1024);
    Ref<hal::Storage> c = *pool->CreateStorage(5'000'000);
    EXPECT_EQ(pool->statistics().bytes_committed, before.bytes_committed);
  }
  const uint64_t absurd[] = {~uint64_t{0}};
  EXPECT_EQ(pool->Prepare(absurd).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace takt::cpu
