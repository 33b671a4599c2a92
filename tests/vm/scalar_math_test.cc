#include "vm/scalar_math.h"

#include <gtest/gtest.h>

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
