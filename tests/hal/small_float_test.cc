// Expected values: the formats' own definitions (OCP FP8, IEEE half), and what
// the iree-* tools print.
#include "hal/small_float.h"

#include <cmath>

#include "gtest/gtest.h"

namespace takt::hal {
namespace {

TEST(SmallFloatTest, F16) {
  EXPECT_EQ(FloatFromF16(0x3e00), 1.5f);
  EXPECT_EQ(FloatFromF16(0xc000), -2.0f);
  EXPECT_EQ(FloatFromF16(0x7bff), 65504.0f);
  EXPECT_EQ(FloatFromF16(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(FloatFromF16(0x7c00), INFINITY);
  EXPECT_EQ(FloatFromF16(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(FloatFromF16(0x7e00)));
  EXPECT_TRUE(std::signbit(FloatFromF16(0x8000)));
}

TEST(SmallFloatTest, BF16) {
  EXPECT_EQ(FloatFromBF16(0x3fc0), 1.5f);
  EXPECT_EQ(FloatFromBF16(0x4049), 3.140625f);
  EXPECT_EQ(FloatFromBF16(0xff80), -INFINITY);
  EXPECT_TRUE(std::isnan(FloatFromBF16(0x7fc0)));
}

TEST(SmallFloatTest, F8E5M2HasInfinities) {
  const auto value = [](uint8_t bits) {
    return FloatFromF8(NumericalKind::kF8E5M2, bits);
  };
  EXPECT_EQ(value(0x3e), 1.5f);
  EXPECT_EQ(value(0x7b), 57344.0f);
  EXPECT_EQ(value(0x01), std::ldexp(1.0f, -16));
  EXPECT_EQ(value(0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(value(0x7f)));
}

TEST(SmallFloatTest, F8E4M3FNHasOneNanAndNoInfinity) {
  const auto value = [](uint8_t bits) {
    return FloatFromF8(NumericalKind::kF8E4M3FN, bits);
  };
  EXPECT_EQ(value(0x3c), 1.5f);
  EXPECT_EQ(value(0x7e), 448.0f);
  EXPECT_EQ(value(0x01), std::ldexp(1.0f, -9));
  EXPECT_TRUE(std::isnan(value(0x7f)));
  EXPECT_TRUE(std::isnan(value(0xff)));
  EXPECT_EQ(value(0xfe), -448.0f);
}

TEST(SmallFloatTest, FnuzHasNanForNegativeZero) {
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E5M2FNUZ, 0x7f), 57344.0f);
  EXPECT_TRUE(std::isnan(FloatFromF8(NumericalKind::kF8E5M2FNUZ, 0x80)));
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E4M3FNUZ, 0x7f), 240.0f);
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E4M3FNUZ, 0x44), 1.5f);
  EXPECT_TRUE(std::isnan(FloatFromF8(NumericalKind::kF8E4M3FNUZ, 0x80)));
}

TEST(SmallFloatTest, F8E8M0IsAPowerOfTwo) {
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E8M0FNU, 127), 1.0f);
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E8M0FNU, 129), 4.0f);
  EXPECT_EQ(FloatFromF8(NumericalKind::kF8E8M0FNU, 0), std::ldexp(1.0f, -127));
  EXPECT_TRUE(std::isnan(FloatFromF8(NumericalKind::kF8E8M0FNU, 255)));
}

}  // namespace
}  // namespace takt::hal
