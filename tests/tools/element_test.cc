#include "tools/common/element.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace takt::tools {
namespace {

// The elements of `text` as they are printed again, or the error's code.
std::string RoundTrip(takt_element_type_t type, std::string_view text,
                      size_t count) {
  const size_t bits = takt_element_type_bit_count(type) * count;
  std::vector<uint8_t> bytes((bits + 7) / 8, 0xee);
  const Status status = ParseElements(type, text, count, bytes);
  if (!status.ok()) return takt_status_code_name(status.code());
  std::string result;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) result += ' ';
    result += FormatElement(type, bytes, i);
  }
  return result;
}

TEST(ElementTest, SeparatorsAreSpaceCommaAndBrackets) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, "[[1,2],[3, 4]]", 4), "1 2 3 4");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, "  1   2 ", 2), "1 2");
}

TEST(ElementTest, OneElementIsRepeated) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F32, "2.5", 3), "2.5 2.5 2.5");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I4, "-3", 3), "-3 -3 -3");
}

TEST(ElementTest, NoElementIsZero) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F32, "", 2), "0 0");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F32, " ", 0), "");
}

TEST(ElementTest, RejectsAnotherCount) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, "1 2", 3), "INVALID_ARGUMENT");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, "1 2 3 4", 3), "INVALID_ARGUMENT");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, "1", 0), "INVALID_ARGUMENT");
}

TEST(ElementTest, IntegersTakeWhatFitsTheirBits) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I8, "-128 127 255", 3), "-128 127 -1");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I8, "-129", 1), "OUT_OF_RANGE");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I8, "256", 1), "OUT_OF_RANGE");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_SI8, "127 -128", 2), "127 -128");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_SI8, "128", 1), "OUT_OF_RANGE");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_UI8, "255 0", 2), "255 0");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_UI8, "-1", 1), "INVALID_ARGUMENT");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I64, "-9223372036854775808", 1),
            "-9223372036854775808");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_UI64, "18446744073709551615", 1),
            "18446744073709551615");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_UI64, "18446744073709551616", 1),
            "OUT_OF_RANGE");
}

TEST(ElementTest, RejectsTextThatIsNoWholeNumber) {
  for (const char* text : {"1.5", "abc", "0x", "1_", "--5", "5x", "1e3"}) {
    EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I32, text, 1), "INVALID_ARGUMENT") << text;
  }
}

TEST(ElementTest, PacksElementsBelowAByte) {
  uint8_t bytes[2];
  ASSERT_TRUE(ParseElements(TAKT_ELEMENT_UI4, "1 2 3", 3, bytes).ok());
  EXPECT_EQ(bytes[0], 0x21);
  EXPECT_EQ(bytes[1], 0x03);
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I4, "7 -8 15", 3), "7 -8 -1");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_I4, "16", 1), "OUT_OF_RANGE");
}

TEST(ElementTest, FloatsAreReadLikeTheCLibrary) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F32, "inf -INF nan 1e39 0x1p-1", 5),
            "INF -INF NAN INF 0.5");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F64, "1e-300 123456789", 2),
            "1E-300 1.23457E+08");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F16, "65504 1e6", 2), "65504 INF");
}

TEST(ElementTest, RejectsTextThatIsNoFloat) {
  for (const char* text : {"1e", "abc", "1.5x", "..", "1_0"}) {
    EXPECT_EQ(RoundTrip(TAKT_ELEMENT_F32, text, 1), "INVALID_ARGUMENT") << text;
    EXPECT_EQ(RoundTrip(TAKT_ELEMENT_BF16, text, 1), "INVALID_ARGUMENT")
        << text;
  }
}

TEST(ElementTest, OtherTypesAreBytes) {
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_BOOL, "01 00", 2), "01 00");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_OPAQUE_32, "01020304 aaBBccDD", 2),
            "01020304 AABBCCDD");
  EXPECT_EQ(RoundTrip(TAKT_ELEMENT_CF64, "0000803f00000040", 1),
            "0000803F00000040");
}

TEST(ElementTest, RejectsBytesOfAnotherLength) {
  for (const char* text : {"1", "0100", "true", "GG", "0x"}) {
    EXPECT_EQ(RoundTrip(TAKT_ELEMENT_BOOL, text, 1), "INVALID_ARGUMENT")
        << text;
  }
}

TEST(ElementTest, NamesTensorTypes) {
  EXPECT_EQ(TensorTypeText(TAKT_ELEMENT_F32, std::vector<int64_t>{2, 3}),
            "2x3xf32");
  EXPECT_EQ(TensorTypeText(TAKT_ELEMENT_BOOL, {}), "i1");
}

}  // namespace
}  // namespace takt::tools
