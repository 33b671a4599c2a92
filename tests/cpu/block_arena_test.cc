#include "cpu/block_arena.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(BlockArenaTest, AllocationsAreAlignedAndApart) {
  UniqueBlockPool pool(BlockPool::Create());
  BlockArena arena(*pool);
  std::vector<std::pair<uint8_t*, size_t>> taken;
  for (size_t bytes : {1, 16, 17, 500, 0, 2000, 5000, 100'000, 3, 64}) {
    auto* memory = static_cast<uint8_t*>(arena.Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0u);
    std::memset(memory, static_cast<int>(taken.size()), bytes);
    taken.emplace_back(memory, bytes);
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    for (size_t j = 0; j < taken[i].second; ++j) {
      ASSERT_EQ(taken[i].first[j], i);
    }
  }
}

TEST(BlockArenaTest, MakesObjectsArraysAndCopies) {
  struct Pair {
    int a = 1;
    int b = 2;
  };
  UniqueBlockPool pool(BlockPool::Create());
  BlockArena arena(*pool);
  EXPECT_EQ(arena.New<Pair>()->b, 2);
  EXPECT_EQ(arena.New<Pair>(5)->a, 5);
  const int* zeroes = arena.NewArray<int>(100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(zeroes[i], 0);
  const std::vector<int> values = {3, 1, 4};
  const int* copy = arena.Copy(absl::MakeConstSpan(values));
  EXPECT_EQ(std::vector<int>(copy, copy + 3), values);
  arena.Copy(absl::Span<const int>());
  arena.NewArray<int>(0);
}

}  // namespace
}  // namespace takt::cpu
