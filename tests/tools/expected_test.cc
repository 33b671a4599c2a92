#include "tools/common/expected.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace takt::tools {
namespace {

using testing::HasSubstr;

class ExpectedTest : public testing::Test {
 protected:
  std::vector<Input> Parse(const std::vector<std::string>& texts,
                           takt_value_kind_t kind = TAKT_VALUE_REF) {
    InputFiles files;
    const std::vector<takt_value_kind_t> kinds(texts.size(), kind);
    return ParseInputs(device_, kinds, texts, &files).value();
  }
  std::string Compare(const std::string& actual, const std::string& expected,
                      takt_value_kind_t kind = TAKT_VALUE_REF) {
    return CompareResults({Parse({actual}, kind)[0].value},
                          Parse({expected}, kind), tolerances_, 1024)
        .value();
  }

  Instance instance_ = Instance::Create().value();
  Device device_ = Device::Create(instance_, "local-sync").value();
  Tolerances tolerances_;
};

TEST_F(ExpectedTest, EqualTensorsAreEqual) {
  for (const char* text : {"2xf32=1 2", "2xi1=01 00", "2xi64=1 -2", "f32=nan",
                           "2xf32=inf -inf", "0x4xf32", "3xi4=1 2 3",
                           "2xcf64=0000803f00000040", "(null)", "&4xi8=1"}) {
    EXPECT_EQ(Compare(text, text), "") << text;
  }
}

TEST_F(ExpectedTest, IntegersOfOneWidthAreComparedByTheirBits) {
  EXPECT_EQ(Compare("2xi32=1 -2", "2xsi32=1 -2"), "");
  EXPECT_EQ(Compare("2xi8=-1 2", "2xui8=255 2"), "");
  EXPECT_EQ(Compare("2xi1=00 01", "2xsi8=0 1"), "");
  EXPECT_THAT(Compare("2xi8=-1 2", "2xui8=254 2"), HasSubstr("index 0"));
  EXPECT_THAT(Compare("2xi32=1 2", "2xi64=1 2"), HasSubstr("metadata"));
  EXPECT_THAT(Compare("1xf32=1", "1x*32=0000803f"), HasSubstr("metadata"));
}

TEST_F(ExpectedTest, ReportsTheFirstElementThatDiffers) {
  EXPECT_EQ(Compare("2x2xi32=1 2 3 4", "2x2xi32=1 2 5 6"),
            "[FAILED] result[0]: element at index 2 (3) does not match the "
            "expected (5); expected that the view is equal to contents of a "
            "view of 2x2xi32\n  expected:\n2x2xi32=[1 2][5 6]\n  actual:\n"
            "2x2xi32=[1 2][3 4]\n");
  EXPECT_THAT(Compare("2xi1=01 00", "2xi1=01 01"),
              HasSubstr("index 1 (00) does not match the expected (01)"));
  EXPECT_THAT(Compare("3xi4=1 2 3", "3xi4=1 2 4"),
              HasSubstr("index 2 (3) does not match the expected (4)"));
  EXPECT_THAT(Compare("2xf32=nan inf", "2xf32=nan -inf"),
              HasSubstr("index 1 (INF) does not match the expected (-INF)"));
  EXPECT_NE(Compare("f32=1", "f32=nan"), "");
}

TEST_F(ExpectedTest, FloatsMayBeOffByTheToleranceOfTheirType) {
  EXPECT_EQ(Compare("f32=1", "f32=1.00009"), "");
  EXPECT_NE(Compare("f32=1", "f32=1.0002"), "");
  EXPECT_EQ(Compare("f64=1", "f64=1.00009"), "");
  EXPECT_EQ(Compare("f16=1", "f16=1.0009765625"), "");
  EXPECT_NE(Compare("f16=1", "f16=1.005"), "");
  EXPECT_EQ(Compare("bf16=1", "bf16=1.0078125"), "");
  EXPECT_NE(Compare("bf16=1", "bf16=1.05"), "");
  EXPECT_EQ(Compare("f32=1e20", "f32=1.000005e20"), "");  // Relative.
  EXPECT_NE(Compare("f8E5M2=1", "f8E5M2=1.25"), "");
}

TEST_F(ExpectedTest, TolerancesAreFlags) {
  tolerances_.f32 = 0.5;
  EXPECT_EQ(Compare("f32=1", "f32=1.4"), "");
  tolerances_.f32 = 0;
  tolerances_.relative = 0;
  EXPECT_NE(Compare("f32=1", "f32=1.0000002"), "");
  tolerances_.f32 = 0.5;
  tolerances_.mode = "exact";
  EXPECT_NE(Compare("f32=1", "f32=1.4"), "");
}

TEST_F(ExpectedTest, ShapeAndTypeMustBeTheSame) {
  EXPECT_THAT(Compare("2xf32=1", "3xf32=1"),
              HasSubstr("metadata is 2xf32; expected that the view matches "
                        "3xf32"));
  EXPECT_NE(Compare("2xf32=1", "2x1xf32=1"), "");
  EXPECT_NE(Compare("2xf32=0", "2xi32=0"), "");
}

TEST_F(ExpectedTest, ScalarsAreCompared) {
  EXPECT_EQ(Compare("3", "3", TAKT_VALUE_I32), "");
  EXPECT_EQ(Compare("3", "4", TAKT_VALUE_I32),
            "[FAILED] result[0]: value i32=3 does not match the expected "
            "i32=4\n");
  EXPECT_EQ(Compare("9000000000", "9000000000", TAKT_VALUE_I64), "");
  EXPECT_NE(Compare("9000000000", "9000000001", TAKT_VALUE_I64), "");
  EXPECT_EQ(Compare("1.00001", "1", TAKT_VALUE_F32), "");
  EXPECT_NE(Compare("1.1", "1", TAKT_VALUE_F32), "");
  EXPECT_EQ(Compare("nan", "nan", TAKT_VALUE_F64), "");
  EXPECT_NE(Compare("1.1", "1", TAKT_VALUE_F64), "");
}

TEST_F(ExpectedTest, KindsMustBeTheSame) {
  EXPECT_EQ(Compare("2xf32=1", "&2xf32=1"),
            "[FAILED] result[0]: variant types mismatch; expected hal.buffer "
            "but got hal.buffer_view\n");
  EXPECT_EQ(Compare("2xf32=1", "(null)"),
            "[FAILED] result[0]: variant types mismatch; expected (null) but "
            "got hal.buffer_view\n");
  EXPECT_NE(Compare("(null)", "2xf32=1"), "");
}

TEST_F(ExpectedTest, BuffersAreComparedByTheirBytes) {
  EXPECT_THAT(Compare("&3xi8=1 2 3", "&3xi8=1 2 4"),
              HasSubstr("buffers differ at byte 2"));
  EXPECT_THAT(Compare("&3xi8=1", "&4xi8=1"), HasSubstr("3 bytes; expected 4"));
}

TEST_F(ExpectedTest, IgnoredResultsAreNotCompared) {
  EXPECT_EQ(Compare("2xf32=1", "(ignored)"), "");
  EXPECT_EQ(Compare("3", "(ignored)", TAKT_VALUE_I32), "");
}

TEST_F(ExpectedTest, TheCountMustBeTheSame) {
  EXPECT_EQ(CompareResults({Value(1), Value(2)}, Parse({"1"}, TAKT_VALUE_I32),
                           tolerances_, 1024)
                .value(),
            "[FAILED] expected 1 list elements but 2 provided\n");
}

}  // namespace
}  // namespace takt::tools
