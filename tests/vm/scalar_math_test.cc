#include "vm/scalar_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace takt::vm {
namespace {

TEST(ScalarMathTest, DivisionWrapsWhereTheQuotientDoesNotFit) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Divide<int32_t>(kMin, -1), kMin);
  EXPECT_EQ(Remainder<int32_t>(kMin, -1), 0);
  EXPECT_EQ(Divide<int32_t>(-7, 2), -3);
  EXPECT_EQ(Remainder<int32_t>(-7, 2), -1);
  EXPECT_EQ(Divide<uint32_t>(0xffffffff, 0xffffffff), 1u);
  EXPECT_EQ(WrappingAbs(kMin), kMin);
}

TEST(ScalarMathTest, RoundingGoesAwayFromZeroAndWraps) {
  EXPECT_EQ(RoundToI32(-0.5f), -1);
  EXPECT_EQ(RoundToI32(4294967296.0f + 1024.0f), 1024);
  EXPECT_EQ(RoundToI64(-kTwoTo63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(RoundToI64(1e300), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(RoundToU64(2 * kTwoTo63), 0u);
  EXPECT_EQ(RoundToU64(kTwoTo63), uint64_t{1} << 63);
}

// The bits are those that iree-run-module 3.13 prints for the instruction.
TEST(ScalarMathTest, IntegerPowersAreProducts) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(IntegerPower(2.0f, 10), 1024.0f);
  EXPECT_EQ(IntegerPower(-2.0f, -3), -0.125f);
  EXPECT_EQ(IntegerPower(0.0f, 0), 1.0f);
  EXPECT_EQ(IntegerPower(std::nanf(""), 0), 1.0f);
  EXPECT_EQ(IntegerPower(-0.0f, -1), -kInfinity);
  EXPECT_EQ(IntegerPower(-0.0f, 2), 0.0f);
  EXPECT_FALSE(std::signbit(IntegerPower(-0.0f, 2)));
  EXPECT_EQ(IntegerPower(-2.0f, 16777217), -kInfinity);
  EXPECT_TRUE(std::signbit(IntegerPower(-2.0f, -16777217)));
  // The product overflows, although the power itself would be a denormal.
  EXPECT_EQ(IntegerPower(2.0f, -140), 0.0f);
  EXPECT_EQ(IntegerPower(2.0, -1060), 0.0);
  // Only the low word counts: -1, 0 and 1.
  EXPECT_EQ(IntegerPower(2.0, kMax), 0.5);
  EXPECT_EQ(IntegerPower(2.0, -kMax - 1), 1.0);
  EXPECT_EQ(IntegerPower(2.0, (int64_t{1} << 32) + 1), 2.0);
  // The longest loop: -2^31.
  EXPECT_EQ(IntegerPower(-1.0, std::numeric_limits<int32_t>::min()), 1.0);
}

// Test vectors of the reference implementation: input bytes 00 01 02 ...
TEST(ScalarMathTest, SipHashOfItsTestVectors) {
  std::vector<uint8_t> bytes;
  for (uint8_t n = 0; n < 16; ++n) bytes.push_back(n);
  EXPECT_EQ(SipHash24(bytes.data(), 0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(SipHash24(bytes.data(), 1), 0x74f839c593dc67fdu);
  EXPECT_EQ(SipHash24(bytes.data(), 15), 0xa129ca6149be45e5u);
}

}  // namespace
}  // namespace takt::vm
