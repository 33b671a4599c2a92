// The small floats by element type; tests/base tests the formats.
#include "takt/tools/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

TEST(SmallFloatTest, EachTypeHasItsFormat) {
  const struct {
    takt_element_type_t type;
    uint32_t one;  // The bits of 1.0.
  } kCases[] = {
      {TAKT_ELEMENT_F16, 0x3c00},      {TAKT_ELEMENT_BF16, 0x3f80},
      {TAKT_ELEMENT_F8E5M2, 0x3c},     {TAKT_ELEMENT_F8E4M3FN, 0x38},
      {TAKT_ELEMENT_F8E5M2FNUZ, 0x40}, {TAKT_ELEMENT_F8E4M3FNUZ, 0x40},
      {TAKT_ELEMENT_F8E8M0FNU, 127},
  };
  for (const auto& [type, one] : kCases) {
    EXPECT_TRUE(takt_element_is_small_float(type)) << type;
    EXPECT_EQ(takt_small_float_decode(type, one), 1.0f) << type;
    EXPECT_EQ(takt_small_float_encode(type, 1.0f), one) << type;
  }
}

TEST(SmallFloatTest, OtherTypesHaveNone) {
  EXPECT_FALSE(takt_element_is_small_float(TAKT_ELEMENT_F32));
  EXPECT_TRUE(std::isnan(takt_small_float_decode(TAKT_ELEMENT_F32, 0)));
  EXPECT_EQ(takt_small_float_encode(TAKT_ELEMENT_F32, 1.0f), 0u);
}

}  // namespace
