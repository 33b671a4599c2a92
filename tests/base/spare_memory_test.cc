// Method: the `new` of this program refuses memory to a thread when it is asked
// to. What the thread then allocates must be spare memory, and come back.
#include "base/spare_memory.h"

#include <cstdint>
#include <new>
#include <set>
#include <vector>

#include "base/block_pool.h"
#include "base/hash_map.h"
#include "gtest/gtest.h"

namespace {

thread_local bool is_system_empty = false;

// While it lives, the system has no memory for this thread.
class EmptySystem {
 public:
  EmptySystem() { is_system_empty = true; }
  ~EmptySystem() { is_system_empty = false; }
};

}  // namespace

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return is_system_empty ? nullptr : ::operator new(bytes);
}

namespace takt {
namespace {

TEST(SpareMemoryTest, ProvidesAtLeastWhatWasAskedFor) {
  SpareMemory spare;
  EXPECT_EQ(spare.left(), 0u);
  spare.Provide(100);
  EXPECT_GE(spare.left(), 100u);
  const size_t left = spare.left();
  spare.Provide(50);
  EXPECT_EQ(spare.left(), left);
  spare.Provide(5000);
  EXPECT_GE(spare.left(), 5000u);
}

TEST(SpareMemoryTest, ThrowsIfTheSystemHasTooLittle) {
  SpareMemory spare;
  {
    const EmptySystem empty;
    EXPECT_THROW(spare.Provide(100), std::bad_alloc);
    EXPECT_THROW(spare.Provide(~size_t{0}), std::bad_alloc);
    EXPECT_THROW(SpareMemory::Allocate(8), std::bad_alloc);
  }
  EXPECT_EQ(spare.left(), 0u);
  spare.Provide(100);
  EXPECT_GE(spare.left(), 100u);
}

TEST(SpareMemoryTest, IsNotTouchedWhileTheSystemHasMemory) {
  SpareMemory spare;
  spare.Provide(1000);
  const size_t left = spare.left();
  const SpareMemory::Scope scope(&spare);
  const SpareVector<int> numbers(100, 7);
  EXPECT_EQ(numbers[99], 7);
  EXPECT_EQ(spare.left(), left);
  EXPECT_EQ(spare.taken_count(), 0u);
}

TEST(SpareMemoryTest, ContainersTakeFromItWhenTheSystemIsEmpty) {
  SpareMemory spare;
  spare.Provide(64 << 10);
  const size_t left = spare.left();
  {
    SpareVector<int> numbers;
    SpareDeque<int> queue;
    SpareHashMap<int, int> table;
    const SpareMemory::Scope scope(&spare);
    const EmptySystem empty;
    for (int i = 0; i < 200; ++i) {
      numbers.push_back(i);
      queue.push_back(i);
      table[i] = i;
    }
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
      ASSERT_EQ(queue[static_cast<size_t>(i)], i);
      ASSERT_EQ(table.at(i), i);
    }
    EXPECT_LT(spare.left(), left);
  }
  EXPECT_EQ(spare.left(), left) << "all of it has come back";
}

TEST(SpareMemoryTest, ScopesNestAndEnd) {
  SpareMemory outer;
  SpareMemory inner;
  outer.Provide(100);
  inner.Provide(100);
  EXPECT_EQ(SpareMemory::TakeHere(8), nullptr);
  const SpareMemory::Scope outer_scope(&outer);
  {
    const SpareMemory::Scope inner_scope(&inner);
    EXPECT_TRUE(SpareMemory::GiveBack(SpareMemory::TakeHere(100)));
    void* const block = SpareMemory::TakeHere(16);
    EXPECT_LT(inner.left(), 112u);
    EXPECT_TRUE(SpareMemory::GiveBack(block));
  }
  void* const block = SpareMemory::TakeHere(16);
  EXPECT_LT(outer.left(), 100u);
  EXPECT_TRUE(SpareMemory::GiveBack(block));
}

TEST(SpareMemoryTest, BlocksAreAlignedAndApart) {
  SpareMemory spare;
  spare.Provide(1000);
  const SpareMemory::Scope scope(&spare);
  std::set<uintptr_t> begins;
  std::vector<void*> blocks;
  for (void* block = SpareMemory::TakeHere(20); block != nullptr;
       block = SpareMemory::TakeHere(20)) {
    const auto begin = reinterpret_cast<uintptr_t>(block);
    EXPECT_EQ(begin % 16, 0u);
    for (const uintptr_t other : begins) {
      EXPECT_TRUE(begin >= other + 20 || other >= begin + 20);
    }
    begins.insert(begin);
    blocks.push_back(block);
  }
  EXPECT_GE(blocks.size(), 1000u / 32);
  for (void* block : blocks) EXPECT_TRUE(SpareMemory::GiveBack(block));
}

TEST(SpareMemoryTest, BlocksOutliveTheOwner) {
  void* block = nullptr;
  {
    SpareMemory spare;
    spare.Provide(100);
    const SpareMemory::Scope scope(&spare);
    block = SpareMemory::TakeHere(64);
    ASSERT_NE(block, nullptr);
  }
  static_cast<char*>(block)[63] = 1;
  EXPECT_TRUE(SpareMemory::GiveBack(block));
  void* const other = SpareMemory::Allocate(64);
  EXPECT_FALSE(SpareMemory::GiveBack(other)) << "it is the system's";
  SpareMemory::Free(other);
}

TEST(SpareMemoryTest, GrowsWhileBlocksAreInUse) {
  SpareMemory spare;
  spare.Provide(100);
  const SpareMemory::Scope scope(&spare);
  void* const block = SpareMemory::TakeHere(64);
  spare.Provide(100);
  EXPECT_GE(spare.left(), 100u);
  const size_t left = spare.left();
  EXPECT_TRUE(SpareMemory::GiveBack(block));
  EXPECT_EQ(spare.left(), left) << "the old chunk is gone";
}

TEST(SpareMemoryTest, AllocateWaitsInAScopeAndThenThrows) {
  SpareMemory spare;
  spare.Provide(16);
  const SpareMemory::Scope scope(&spare);
  const EmptySystem empty;
  EXPECT_THROW(SpareMemory::Allocate(1000), std::bad_alloc);
}

TEST(SpareMemoryTest, BlockPoolsGiveBlocksOfItBack) {
  SpareMemory spare;
  spare.Provide(4096);
  const size_t left = spare.left();
  {
    const UniqueBlockPool pool(BlockPool::Create());
    const SpareMemory::Scope scope(&spare);
    void* const block = SpareMemory::TakeHere(100);
    EXPECT_TRUE(SpareMemory::GiveBack(block));
    BlockPool::Free(pool->Allocate(100));
    pool->Trim();
  }
  EXPECT_EQ(spare.left(), left);
}

}  // namespace
}  // namespace takt
