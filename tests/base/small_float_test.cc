#include "base/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

namespace takt {
namespace {

constexpr SmallFloat kTypes[] = {
    SmallFloat::kF16,      SmallFloat::kBF16,       SmallFloat::kF8E5M2,
    SmallFloat::kF8E4M3FN, SmallFloat::kF8E5M2FNUZ, SmallFloat::kF8E4M3FNUZ,
    SmallFloat::kF8E8M0FNU};

int BitCount(SmallFloat type) {
  return type == SmallFloat::kF16 || type == SmallFloat::kBF16 ? 16 : 8;
}

TEST(SmallFloatTest, EveryNumberComesBackAsItsBits) {
  for (const SmallFloat type : kTypes) {
    const uint32_t count = 1u << BitCount(type);
    for (uint32_t bits = 0; bits < count; ++bits) {
      const float value = DecodeSmallFloat(type, bits);
      const uint32_t again = EncodeSmallFloat(type, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(DecodeSmallFloat(type, again)));
      } else {
        ASSERT_EQ(again, bits) << static_cast<int>(type);
      }
    }
  }
}

TEST(SmallFloatTest, ValuesGrowWithTheirBits) {
  for (const SmallFloat type : kTypes) {
    const uint32_t half = 1u << (BitCount(type) - 1);
    for (uint32_t bits = 0; bits + 1 < half; ++bits) {
      const float next = DecodeSmallFloat(type, bits + 1);
      if (std::isnan(next)) break;
      ASSERT_LT(DecodeSmallFloat(type, bits), next) << static_cast<int>(type);
    }
  }
}

TEST(SmallFloatTest, KnownBits) {
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF16, 0x3c00), 1.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF16, 0x7bff), 65504.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF16, 0x0001), 0x1p-24f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kBF16, 0xc000), -2.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E5M2, 0x7b), 57344.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E4M3FN, 0x7e), 448.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E5M2FNUZ, 0x7f), 57344.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E4M3FNUZ, 0x7f), 240.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E8M0FNU, 127), 1.0f);
  EXPECT_EQ(DecodeSmallFloat(SmallFloat::kF8E8M0FNU, 0), 0x1p-127f);
}

TEST(SmallFloatTest, NanOfUnsignedZerosHasNoSign) {
  EXPECT_FALSE(std::signbit(DecodeSmallFloat(SmallFloat::kF8E5M2FNUZ, 0x80)));
  EXPECT_FALSE(std::signbit(DecodeSmallFloat(SmallFloat::kF8E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::signbit(DecodeSmallFloat(SmallFloat::kF16, 0xfe00)));
}

TEST(SmallFloatTest, RoundsToTheNearestAndTiesToEven) {
  // Halves of the last place around 1.
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, 1 + 0x1p-11f), 0x3c00u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, 1 + 0x3p-11f), 0x3c02u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, 1 + 0x1.1p-11f), 0x3c01u);
  // Half of the least number, and a bit more.
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FN, 0x1p-10f), 0u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FN, 0x1.1p-10f), 1u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E8M0FNU, 1.5f), 128u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E8M0FNU, 1.4f), 127u);
}

TEST(SmallFloatTest, TooLargeIsInfiniteWhereThereAreInfinities) {
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, 65519.0f), 0x7bffu);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, 65520.0f), 0x7c00u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF16, -1e30f), 0xfc00u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kBF16, INFINITY), 0x7f80u);
}

TEST(SmallFloatTest, TooLargeIsNanElsewhere) {
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FN, 1e6f), 0x7fu);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FN, -INFINITY), 0xffu);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FNUZ, 256.0f), 0x80u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E5M2FNUZ, INFINITY), 0x80u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E8M0FNU, INFINITY), 0xffu);
}

TEST(SmallFloatTest, UnsignedZeroTypesHaveNoNegativeZero) {
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E4M3FNUZ, -0.0f), 0u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E5M2FNUZ, -1e-30f), 0u);
  EXPECT_EQ(EncodeSmallFloat(SmallFloat::kF8E5M2, -0.0f), 0x80u);
}

}  // namespace
}  // namespace takt
