#include "base/math.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace takt {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(MathTest, CheckedAddRefusesOverflow) {
  uint64_t sum = 0;
  EXPECT_TRUE(CheckedAdd(kMax - 1, 1, &sum));
  EXPECT_EQ(sum, kMax);
  EXPECT_FALSE(CheckedAdd(kMax, 1, &sum));
  int32_t narrow = 0;
  EXPECT_FALSE(CheckedAdd(std::numeric_limits<int32_t>::max(), 1, &narrow));
  EXPECT_FALSE(CheckedAdd(std::numeric_limits<int32_t>::min(), -1, &narrow));
}

TEST(MathTest, CheckedMulRefusesOverflow) {
  uint64_t product = 0;
  EXPECT_TRUE(CheckedMul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1, &product));
  EXPECT_EQ(product, (uint64_t{1} << 32) * 0xffffffff);
  EXPECT_FALSE(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32, &product));
  EXPECT_TRUE(CheckedMul(kMax, 0, &product));
  EXPECT_EQ(product, 0u);
}

TEST(MathTest, RangeFitsToTheLastByte) {
  EXPECT_TRUE(RangeFits(0, 10, 10));
  EXPECT_TRUE(RangeFits(10, 0, 10));
  EXPECT_TRUE(RangeFits(9, 1, 10));
  EXPECT_FALSE(RangeFits(10, 1, 10));
  EXPECT_FALSE(RangeFits(11, 0, 10));
}

TEST(MathTest, RangeThatWrapsDoesNotFit) {
  EXPECT_FALSE(RangeFits(kMax, 2, 10));
  EXPECT_FALSE(RangeFits(2, kMax, 10));
  EXPECT_FALSE(RangeFits(kMax, kMax, kMax));
  EXPECT_TRUE(RangeFits(kMax, 0, kMax));
}

TEST(MathTest, PowersOfTwo) {
  EXPECT_FALSE(IsPowerOfTwo(0));
  EXPECT_TRUE(IsPowerOfTwo(1));
  EXPECT_TRUE(IsPowerOfTwo(uint64_t{1} << 63));
  EXPECT_FALSE(IsPowerOfTwo(3));
  EXPECT_FALSE(IsPowerOfTwo(kMax));
}

TEST(MathTest, AlignsUp) {
  EXPECT_EQ(AlignUp(0, 64), 0u);
  EXPECT_EQ(AlignUp(1, 64), 64u);
  EXPECT_EQ(AlignUp(64, 64), 64u);
  EXPECT_EQ(AlignUp(65, 64), 128u);
  EXPECT_EQ(AlignUp(65, 1), 65u);
}

TEST(MathTest, CheckedAlignUpRefusesOverflow) {
  uint64_t aligned = 0;
  EXPECT_TRUE(CheckedAlignUp(kMax - 63, 64, &aligned));
  EXPECT_EQ(aligned, kMax - 63);
  EXPECT_FALSE(CheckedAlignUp(kMax - 62, 64, &aligned));
}

}  // namespace
}  // namespace takt
