#include "tools/common/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/common/npy.h"

namespace takt::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseTensorTextTest, ReadsShapeAndType) {
  const Result<TensorText> tensor = ParseTensorText("2x3xf32=1 2 3 4 5 6");
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(tensor->shape, ElementsAre(2, 3));
  EXPECT_EQ(tensor->element_type, TAKT_ELEMENT_F32);
  EXPECT_EQ(tensor->element_count, 6u);
  EXPECT_EQ(tensor->byte_length, 24u);
  EXPECT_EQ(tensor->elements, "1 2 3 4 5 6");
  EXPECT_FALSE(tensor->is_file);
}

TEST(ParseTensorTextTest, TheElementsMayBeMissing) {
  EXPECT_EQ(ParseTensorText("4xi8")->byte_length, 4u);
  EXPECT_EQ(ParseTensorText("4xi8=")->elements, "");
  EXPECT_EQ(ParseTensorText(" 4xi8 = 1 ")->elements, "1");
}

TEST(ParseTensorTextTest, RankZeroNeedsAnEqualsSign) {
  EXPECT_THAT(ParseTensorText("f32=3")->shape, ElementsAre());
  EXPECT_EQ(ParseTensorText("f32=3")->element_count, 1u);
  EXPECT_EQ(ParseTensorText("xf32=3")->byte_length, 4u);
  EXPECT_FALSE(ParseTensorText("f32").ok());
}

TEST(ParseTensorTextTest, EmptyTensors) {
  const Result<TensorText> tensor = ParseTensorText("0x4xf32=");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->element_count, 0u);
  EXPECT_EQ(tensor->byte_length, 0u);
}

TEST(ParseTensorTextTest, TypesOfEveryKind) {
  EXPECT_EQ(ParseTensorText("2xi1=01")->element_type, TAKT_ELEMENT_BOOL);
  EXPECT_EQ(ParseTensorText("2xsi8")->element_type, TAKT_ELEMENT_SI8);
  EXPECT_EQ(ParseTensorText("2x*32")->element_type, TAKT_ELEMENT_OPAQUE_32);
  EXPECT_EQ(ParseTensorText("2xcf64")->element_type, TAKT_ELEMENT_CF64);
  EXPECT_EQ(ParseTensorText("3xi4")->byte_length, 2u);
  EXPECT_EQ(ParseTensorText("2Xf8E4M3FNUZ")->element_type,
            TAKT_ELEMENT_F8E4M3FNUZ);
}

TEST(ParseTensorTextTest, Files) {
  const Result<TensorText> first = ParseTensorText("2xf32=@a=b.bin");
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->is_file && first->rewind);
  EXPECT_EQ(first->elements, "a=b.bin");
  const Result<TensorText> next = ParseTensorText("2xf32=+f");
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(next->is_file && !next->rewind);
}

TEST(ParseTensorTextTest, RejectsOtherTexts) {
  for (const char* text :
       {"",       "=",        "x",        "5",        "2x3=1",  "2xzz",
        "2x",     "?xf32=3",  "-2xf32=3", "2x-1xf32", "2xF32",  "2x3xf32x4",
        "xxx",    "2 x f32",  "2xf",      "2xf-32",   "2xi999", "2x3xf32,",
        "0x10xq", "2xx3xf32", "1e3xf32",  "2.5xf32"}) {
    EXPECT_FALSE(ParseTensorText(text).ok()) << text;
  }
}

TEST(ParseTensorTextTest, RejectsHostileShapes) {
  for (const char* text :
       {"4294967296x4294967296xf32", "9223372036854775807xf64",
        "99999999999999999999xf32", "9223372036854775807x2xi4"}) {
    EXPECT_EQ(ParseTensorText(text).status().code(), TAKT_STATUS_OUT_OF_RANGE)
        << text;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "1x";
  EXPECT_FALSE(ParseTensorText(deep + "f32").ok());
}

TEST(FillTensorTest, ReadsOneFileInPieces) {
  InputFiles files;
  files.Add("f", "abcdef");
  std::string data(2, '\0');
  const std::span<uint8_t> target(reinterpret_cast<uint8_t*>(data.data()), 2);
  const auto fill = [&](const char* text) {
    const Status status = FillTensor(*ParseTensorText(text), &files, target);
    return status.ok() ? data : status.ToString();
  };
  EXPECT_EQ(fill("2xi8=@f"), "ab");
  EXPECT_EQ(fill("2xi8=+f"), "cd");
  EXPECT_EQ(fill("2xi8=+f"), "ef");
  EXPECT_THAT(fill("2xi8=+f"), HasSubstr("f: expected 2 bytes, got 0"));
  EXPECT_EQ(fill("2xi8=@f"), "ab");
  EXPECT_THAT(fill("2xi8=@/nonexistent"), HasSubstr("/nonexistent: "));
}

TEST(FillTensorTest, RefusesTheHeaderOfANumpyFile) {
  InputFiles files;
  const std::string array =
      FormatNpy(TAKT_ELEMENT_I8, std::vector<int64_t>{2}, "ab").value();
  files.Add("f.npy", array + array);
  files.Add("f.bin", array);
  std::string data(2, '\0');
  const std::span<uint8_t> target(reinterpret_cast<uint8_t*>(data.data()), 2);
  const auto fill = [&](const char* text) {
    return FillTensor(*ParseTensorText(text), &files, target);
  };
  for (const char* text : {"2xi8=@f.npy", "2xi8=+f.npy"}) {
    const Status status = fill(text);
    EXPECT_EQ(status.code(), TAKT_STATUS_INVALID_ARGUMENT) << text;
    EXPECT_THAT(status.ToString(),
                HasSubstr("f.npy: a numpy file begins with a header; for its "
                          "elements write @f.npy, without 2xi8="));
  }
  EXPECT_THAT(fill("2xi8=@f.bin").ToString(),
              HasSubstr("name it .npy and write @file.npy, without 2xi8="));
  // Also between arrays, but not within the elements of one.
  size_t byte_length = 0;
  ASSERT_TRUE(ParseNpy(array, &byte_length).ok());
  (*files.Open("f.npy", true))->offset = byte_length;
  EXPECT_FALSE(fill("2xi8=+f.npy").ok());
  (*files.Open("f.npy", true))->offset = byte_length - 2;
  EXPECT_TRUE(fill("2xi8=+f.npy").ok());
  EXPECT_EQ(data, "ab");
}

TEST(ParseScalarTest, TakesTheKindOfTheSignature) {
  EXPECT_EQ(ParseScalar(TAKT_VALUE_I32, "-4")->i32(), -4);
  EXPECT_EQ(ParseScalar(TAKT_VALUE_I32, "0xffffffff")->i32(), -1);
  EXPECT_EQ(ParseScalar(TAKT_VALUE_I64, "4")->i64(), 4);
  EXPECT_EQ(ParseScalar(TAKT_VALUE_F32, "1.5")->f32(), 1.5f);
  EXPECT_EQ(ParseScalar(TAKT_VALUE_F64, "-1e-3")->f64(), -1e-3);
  EXPECT_EQ(ParseScalar(TAKT_VALUE_F64, "3")->kind(), TAKT_VALUE_F64);
}

TEST(ParseScalarTest, RejectsWhatIsNone) {
  for (const char* text : {"1.5", "x", "4x", "4294967296", "1 2", "i32=4"}) {
    EXPECT_FALSE(ParseScalar(TAKT_VALUE_I32, text).ok()) << text;
  }
  EXPECT_FALSE(ParseScalar(TAKT_VALUE_F32, "1.5.5").ok());
  EXPECT_FALSE(ParseScalar(TAKT_VALUE_REF, "1").ok());
}

class ParseInputsTest : public testing::Test {
 protected:
  Result<std::vector<Input>> Parse(const std::vector<takt_value_kind_t>& kinds,
                                   const std::vector<std::string>& texts) {
    return ParseInputs(device_, kinds, texts, &files_);
  }
  std::string Error(const std::vector<takt_value_kind_t>& kinds,
                    const std::vector<std::string>& texts) {
    return Parse(kinds, texts).status().ToString();
  }
  // A view's text; the test fails if there is none.
  std::string View(const Input& input) {
    const BufferView view = input.value.view();
    return view ? view.Format() : "no view";
  }
  static std::string Array(takt_element_type_t type,
                           const std::vector<int64_t>& shape,
                           const std::string& data) {
    return FormatNpy(type, shape, data).value();
  }

  Instance instance_ = Instance::Create().value();
  Device device_ = Device::Create(instance_, "local-sync").value();
  InputFiles files_;
};

TEST_F(ParseInputsTest, MakesTensorsBuffersAndScalars) {
  const auto inputs =
      Parse({TAKT_VALUE_REF, TAKT_VALUE_REF, TAKT_VALUE_I32, TAKT_VALUE_F32},
            {"2x2xf32=[[1 2][3 4]]", "&3xi16=7", "-5", "+2.5"});
  ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
  EXPECT_EQ(View((*inputs)[0]), "2x2xf32=[1 2][3 4]");
  const Buffer buffer = (*inputs)[1].value.buffer();
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer.byte_length(), 6u);
  uint8_t bytes[6];
  ASSERT_TRUE(buffer.Read(0, bytes).ok());
  EXPECT_THAT(bytes, ElementsAre(7, 0, 7, 0, 7, 0));
  EXPECT_EQ((*inputs)[2].value.i32(), -5);
  EXPECT_EQ((*inputs)[3].value.f32(), 2.5f);
}

TEST_F(ParseInputsTest, NullAndIgnored) {
  const auto inputs =
      Parse({TAKT_VALUE_REF, TAKT_VALUE_REF}, {"(null)", "(ignored)"});
  ASSERT_TRUE(inputs.ok());
  EXPECT_FALSE((*inputs)[0].is_ignored);
  EXPECT_EQ((*inputs)[0].value.get().ref, nullptr);
  EXPECT_TRUE((*inputs)[1].is_ignored);
  EXPECT_FALSE(Parse({TAKT_VALUE_I32}, {"(null)"}).ok());
  EXPECT_TRUE(Parse({TAKT_VALUE_I32}, {"(ignored)"}).ok());
}

TEST_F(ParseInputsTest, ArraysOfAFile) {
  files_.Add("f.npy", Array(TAKT_ELEMENT_I8, {2}, "\1\2") +
                          Array(TAKT_ELEMENT_I8, {1, 1}, "\3"));
  const std::vector<takt_value_kind_t> two(2, TAKT_VALUE_REF);
  for (const std::vector<std::string>& texts :
       std::vector<std::vector<std::string>>{{"@f.npy", "+f.npy"},
                                             {"*f.npy"}}) {
    const auto inputs = Parse(two, texts);
    ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
    ASSERT_EQ(inputs->size(), 2u);
    EXPECT_EQ(View((*inputs)[0]), "2xsi8=1 2");
    EXPECT_EQ(View((*inputs)[1]), "1x1xsi8=[3]");
  }
  EXPECT_THAT(Error(two, {"@f.npy", "+f.npy", "+f.npy"}),
              HasSubstr("expected 2 values, got more"));
  EXPECT_THAT(Error({TAKT_VALUE_REF}, {"*f.npy"}), HasSubstr("got more"));
}

TEST_F(ParseInputsTest, ScalarsFromAFile) {
  files_.Add("i.npy", Array(TAKT_ELEMENT_I32, {}, std::string("\7\0\0\0", 4)));
  files_.Add("f.npy", Array(TAKT_ELEMENT_F32, {}, std::string("\0\0\200?", 4)));
  files_.Add("v.npy", Array(TAKT_ELEMENT_I8, {2}, "ab"));
  EXPECT_EQ((*Parse({TAKT_VALUE_I32}, {"@i.npy"}))[0].value.i32(), 7);
  EXPECT_EQ((*Parse({TAKT_VALUE_F64}, {"@i.npy"}))[0].value.f64(), 7);
  EXPECT_EQ((*Parse({TAKT_VALUE_F32}, {"@f.npy"}))[0].value.f32(), 1);
  EXPECT_FALSE(Parse({TAKT_VALUE_I32}, {"@f.npy"}).ok());
  EXPECT_FALSE(Parse({TAKT_VALUE_I32}, {"@v.npy"}).ok());
}

TEST_F(ParseInputsTest, ErrorsNameTheInputAndTheFile) {
  files_.Add("bad.npy", "zork");
  files_.Add("end.npy", Array(TAKT_ELEMENT_I8, {2}, "ab"));
  const std::vector<takt_value_kind_t> two(2, TAKT_VALUE_REF);
  EXPECT_THAT(Error(two, {"2xf32=1", "2xf32=1 x"}),
              HasSubstr("1 (`2xf32=1 x`): `x` is not a number"));
  EXPECT_THAT(Error(two, {"@bad.npy"}), HasSubstr("bad.npy: npy: "));
  EXPECT_THAT(Error(two, {"@end.npy", "+end.npy"}), HasSubstr("end.npy: npy:"));
  EXPECT_THAT(Error(two, {"@/nonexistent/f.npy"}),
              HasSubstr("NOT_FOUND: 0 (`@/nonexistent/f.npy`): "
                        "/nonexistent/f.npy: "));
  EXPECT_THAT(Error(two, {"@f.bin"}), HasSubstr("use SHAPExTYPE=@file"));
  EXPECT_THAT(Error(two, {""}), HasSubstr("there is no value"));
  EXPECT_THAT(Error(two, {"5"}), HasSubstr("SHAPExTYPE"));
  EXPECT_THAT(Error(two, {std::string(100000, 'z')}), HasSubstr("zzz...`"));
}

TEST_F(ParseInputsTest, FewerValuesThanArgumentsAreNoError) {
  const auto inputs = Parse({TAKT_VALUE_REF, TAKT_VALUE_I32}, {"f32=1"});
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->size(), 1u);
}

}  // namespace
}  // namespace takt::tools
