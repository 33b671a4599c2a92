#include "tools/common/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace takt::tools {
namespace {

TEST(NumberTest, ReadsIntegersOfThreeBases) {
  EXPECT_EQ(*ParseInteger("-12"), -12);
  EXPECT_EQ(*ParseInteger("+12"), 12);
  EXPECT_EQ(*ParseInteger("0x1F"), 31);
  EXPECT_EQ(*ParseInteger("010"), 8);
  EXPECT_EQ(*ParseInteger("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(*ParseUnsigned("18446744073709551615"), UINT64_MAX);
}

TEST(NumberTest, RejectsWhatIsNotOneNumber) {
  for (const char* text : {"", " 1", "1 ", "x", "1x", "1 2", "0x", "--1"}) {
    EXPECT_EQ(ParseInteger(text).status().code(), TAKT_STATUS_INVALID_ARGUMENT)
        << text;
    EXPECT_EQ(ParseUnsigned(text).status().code(), TAKT_STATUS_INVALID_ARGUMENT)
        << text;
  }
  EXPECT_FALSE(ParseUnsigned("-1").ok());
  EXPECT_FALSE(ParseInteger(std::string_view("1\0", 2)).ok());
}

TEST(NumberTest, RejectsIntegersBeyond64Bits) {
  EXPECT_EQ(ParseInteger("9223372036854775808").status().code(),
            TAKT_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(ParseUnsigned("18446744073709551616").status().code(),
            TAKT_STATUS_OUT_OF_RANGE);
}

TEST(NumberTest, ReadsReals) {
  EXPECT_EQ(*ParseReal("-1.5e3"), -1500);
  EXPECT_EQ(*ParseReal("0x1p-2"), 0.25);
  EXPECT_TRUE(std::isnan(*ParseReal("nan")));
  EXPECT_TRUE(std::isinf(*ParseReal("-inf")));
  EXPECT_TRUE(std::isinf(*ParseReal("1e999")));
  EXPECT_EQ(*ParseReal("1e-999"), 0);
  EXPECT_EQ(*ParseFloat("0.1"), 0.1f);
}

TEST(NumberTest, RejectsTextThatIsNoReal) {
  for (const char* text : {"", " 1", "1e", "1.5f", "1,5", "e3"}) {
    EXPECT_FALSE(ParseReal(text).ok()) << text;
    EXPECT_FALSE(ParseFloat(text).ok()) << text;
  }
}

}  // namespace
}  // namespace takt::tools
