#include "base/narrow.h"

#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"

namespace takt {
namespace {

enum class Kind : uint32_t { kSmall = 3, kLarge = 300 };

TEST(NarrowTest, AValueThatFitsIsKept) {
  int16_t out = 0;
  EXPECT_TRUE(CheckedNarrow(int64_t{-32768}, &out));
  EXPECT_EQ(out, -32768);
  EXPECT_EQ(Narrow<int16_t>(uint64_t{32767}), 32767);
  EXPECT_EQ(Narrow<uint64_t>(int8_t{5}), 5u);
  EXPECT_EQ(Narrow<uint8_t>(Kind::kSmall), 3);
}

TEST(NarrowTest, AValueThatDoesNotFitIsRefused) {
  int16_t out = 0;
  EXPECT_FALSE(CheckedNarrow(int64_t{-32769}, &out));
  EXPECT_FALSE(CheckedNarrow(uint32_t{32768}, &out));
  EXPECT_FALSE(CheckedNarrow(uint64_t{0xffffffffffffffff}, &out));
  uint64_t large = 0;
  EXPECT_FALSE(CheckedNarrow(-1, &large));
  uint8_t small = 0;
  EXPECT_FALSE(CheckedNarrow(Kind::kLarge, &small));
  int32_t same_width = 0;
  EXPECT_FALSE(CheckedNarrow(uint32_t{0x80000000}, &same_width));
}

TEST(NarrowTest, ANumberWithAFractionLosesIt) {
  uint8_t small = 0;
  EXPECT_TRUE(CheckedNarrow(255.9, &small));
  EXPECT_EQ(small, 255);
  EXPECT_FALSE(CheckedNarrow(256.0, &small));
  EXPECT_FALSE(CheckedNarrow(-1.0, &small));
  int64_t large = 0;
  EXPECT_TRUE(CheckedNarrow(-0x1p63, &large));
  EXPECT_FALSE(CheckedNarrow(0x1p63, &large));
  EXPECT_FALSE(CheckedNarrow(std::nan(""), &large));
}

TEST(NarrowTest, AMissingCheckEndsTheProcess) {
  EXPECT_DEATH((void)Narrow<int16_t>(size_t{32768}), "narrow_test.cc");
  EXPECT_DEATH((void)Narrow<uint32_t>(-1), "narrow_test.cc");
}

TEST(NarrowTest, TruncationKeepsTheLowBits) {
  EXPECT_EQ(Truncate<uint8_t>(0x1234), 0x34);
  EXPECT_EQ(Truncate<int8_t>(0xffu), -1);
}

}  // namespace
}  // namespace takt
