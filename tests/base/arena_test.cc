#include "base/arena.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(ArenaTest, TakesNothingUntilAsked) {
  Arena arena;
  EXPECT_EQ(arena.reserved_bytes(), 0u);
}

TEST(ArenaTest, AlignsItsAllocations) {
  Arena arena(128);
  for (size_t alignment : {1, 2, 4, 8, 16, 32, 64}) {
    arena.Allocate(1, 1);
    void* memory = arena.Allocate(24, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
  }
}

TEST(ArenaTest, PiecesDoNotOverlap) {
  Arena arena(64);
  std::vector<uint8_t*> pieces;
  for (uint8_t i = 0; i < 100; ++i) {
    auto* piece = static_cast<uint8_t*>(arena.Allocate(i + 1));
    std::memset(piece, i, i + 1);
    pieces.push_back(piece);
  }
  for (uint8_t i = 0; i < 100; ++i) {
    EXPECT_EQ(pieces[i][0], i);
    EXPECT_EQ(pieces[i][i], i);
  }
}

TEST(ArenaTest, SecondUseOfTheSameSizeTakesNothingMore) {
  Arena arena(64);
  const auto use = [&arena] {
    for (int i = 0; i < 50; ++i) ASSERT_NE(arena.Allocate(100), nullptr);
    arena.Reset();
  };
  // Reset() keeps one block; blocks grow until one of them holds it all.
  for (int i = 0; i < 4; ++i) use();
  const size_t reserved = arena.reserved_bytes();
  use();
  EXPECT_EQ(arena.reserved_bytes(), reserved);
  EXPECT_EQ(arena.used_bytes(), 0u);
}

TEST(ArenaTest, ResetKeepsTheLargestBlockOnly) {
  Arena arena(64);
  arena.Allocate(64);
  arena.Allocate(1 << 20);
  arena.Allocate(64);
  const size_t before = arena.reserved_bytes();
  arena.Reset();
  EXPECT_LT(arena.reserved_bytes(), before);
  EXPECT_GE(arena.reserved_bytes(), size_t{1} << 20);
}

TEST(ArenaTest, RefusesAbsurdSizes) {
  Arena arena;
  EXPECT_EQ(arena.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.Allocate(SIZE_MAX - 70), nullptr);
  EXPECT_EQ(arena.AllocateArray<uint64_t>(SIZE_MAX / 4), nullptr);
  EXPECT_NE(arena.Allocate(8), nullptr);
}

TEST(ArenaTest, CopiesAndZeroes) {
  Arena arena;
  const std::vector<int32_t> source = {1, 2, 3};
  const absl::Span<int32_t> copy =
      arena.Copy(absl::Span<const int32_t>(source));
  EXPECT_EQ(std::vector<int32_t>(copy.begin(), copy.end()), source);
  const int64_t* zeroes = arena.AllocateArray<int64_t>(4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(zeroes[i], 0);
}

}  // namespace
}  // namespace takt
