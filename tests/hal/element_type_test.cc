#include "hal/element_type.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

using ::testing::HasSubstr;

TEST(ElementTypeTest, NamesAndNumbersOfTheAbi) {
  const struct {
    const char* name;
    uint32_t number;
  } kTypes[] = {
      {"i8", 0x10000008},         {"i16", 0x10000010},
      {"i32", 0x10000020},        {"i64", 0x10000040},
      {"si32", 0x11000020},       {"ui32", 0x12000020},
      {"i1", 0x13000008},         {"f16", 0x21000010},
      {"f32", 0x21000020},        {"f64", 0x21000040},
      {"bf16", 0x22000010},       {"cf64", 0x23000040},
      {"cf128", 0x23000080},      {"f8E5M2", 0x24000008},
      {"f8E4M3FN", 0x25000008},   {"f8E5M2FNUZ", 0x26000008},
      {"f8E4M3FNUZ", 0x27000008}, {"f8E8M0FNU", 0x28000008},
      {"*8", 0x00000008},         {"*32", 0x00000020},
      {"i4", 0x10000004},         {"i2", 0x10000002},
  };
  for (const auto& type : kTypes) {
    const auto element_type = static_cast<ElementType>(type.number);
    EXPECT_EQ(ElementTypeName(element_type), type.name);
    auto parsed = ParseElementType(type.name);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, element_type) << type.name;
  }
}

TEST(ElementTypeTest, IntegersOfOneWidthFitEachOther) {
  const auto fits = [](const char* actual, const char* expected) {
    return ElementTypeFits(*ParseElementType(actual),
                           *ParseElementType(expected));
  };
  for (const char* actual : {"i8", "si8", "ui8", "i1"}) {
    for (const char* expected : {"i8", "si8", "ui8", "i1"}) {
      EXPECT_TRUE(fits(actual, expected)) << actual << " " << expected;
    }
    EXPECT_FALSE(fits(actual, "i16")) << actual;
    EXPECT_FALSE(fits(actual, "f8E5M2")) << actual;
  }
  EXPECT_TRUE(fits("*32", "f32"));
  EXPECT_FALSE(fits("f32", "*32"));
  EXPECT_FALSE(fits("f32", "i32"));
  EXPECT_FALSE(fits("f16", "bf16"));
}

TEST(ElementTypeTest, UnknownKindsPrintTheirNumbers) {
  EXPECT_EQ(ElementTypeName(static_cast<ElementType>(0x77000012)), "?119:18");
}

TEST(ElementTypeTest, RefusesUnknownNames) {
  for (const char* name :
       {"",     "f",    "i",  "*",    "x32",          "f33",   "f8",
        "f128", "bf32", "i0", "i03",  "i256",         "i-8",   "i 8",
        "f32 ", "F32",  "si", "cf32", "i99999999999", "f8e5m2"}) {
    auto parsed = ParseElementType(name);
    ASSERT_FALSE(parsed.ok()) << name;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(parsed.status().message()),
                HasSubstr("'" + std::string(name) + "'"));
  }
}

TEST(ElementTypeTest, DenseLengthsRoundUpToBytes) {
  const auto length = [](const char* name, std::vector<int64_t> shape) {
    return *DenseByteLength(*ParseElementType(name), shape);
  };
  EXPECT_EQ(length("f32", {}), 4u);
  EXPECT_EQ(length("f32", {2, 3}), 24u);
  EXPECT_EQ(length("i1", {5}), 5u);
  EXPECT_EQ(length("i4", {3}), 2u);
  EXPECT_EQ(length("i2", {5}), 2u);
  EXPECT_EQ(length("cf64", {2}), 16u);
  EXPECT_EQ(length("f32", {0, 1000}), 0u);
}

TEST(ElementTypeTest, DenseLengthRefusesNegativeAndHugeShapes) {
  const ElementType f32 = *ParseElementType("f32");
  EXPECT_EQ(DenseByteLength(f32, {2, -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DenseByteLength(f32, {0, -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(DenseByteLength(f32, {huge, huge}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*DenseByteLength(f32, {huge, huge, 0}), 0u);
}

}  // namespace
}  // namespace takt::hal
