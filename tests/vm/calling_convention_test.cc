#include "vm/calling_convention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CallingConventionTest, EmptyTextHasNeitherArgumentsNorResults) {
  for (const char* text : {"", "0", "0v", "0v_v", "0_v", "0v_", "0_"}) {
    const auto convention = CallingConvention::Parse(text);
    ASSERT_TRUE(convention.ok()) << text << convention.status();
    EXPECT_EQ(convention->text, text);
    EXPECT_THAT(convention->arguments, IsEmpty());
    EXPECT_THAT(convention->results, IsEmpty());
  }
}

TEST(CallingConventionTest, ReadsLettersInOrder) {
  const auto convention = CallingConvention::Parse("0iIfFr_rFfIi");
  ASSERT_TRUE(convention.ok()) << convention.status();
  ASSERT_EQ(convention->arguments.size(), 5u);
  EXPECT_FALSE(convention->has_spans());
  EXPECT_THAT(convention->arguments[0].letters, ElementsAre(Letter::kI32));
  EXPECT_THAT(convention->arguments[1].letters, ElementsAre(Letter::kI64));
  EXPECT_THAT(convention->arguments[2].letters, ElementsAre(Letter::kF32));
  EXPECT_THAT(convention->arguments[3].letters, ElementsAre(Letter::kF64));
  EXPECT_THAT(convention->arguments[4].letters, ElementsAre(Letter::kRef));
  EXPECT_THAT(convention->results,
              ElementsAre(Letter::kRef, Letter::kF64, Letter::kF32,
                          Letter::kI64, Letter::kI32));
}

TEST(CallingConventionTest, ReadsSpans) {
  const auto convention = CallingConvention::Parse("0rCiIrDFCrD_fr");
  ASSERT_TRUE(convention.ok()) << convention.status();
  EXPECT_TRUE(convention->has_spans());
  ASSERT_EQ(convention->arguments.size(), 4u);
  EXPECT_FALSE(convention->arguments[0].is_span);
  EXPECT_TRUE(convention->arguments[1].is_span);
  EXPECT_THAT(convention->arguments[1].letters,
              ElementsAre(Letter::kI32, Letter::kI64, Letter::kRef));
  EXPECT_FALSE(convention->arguments[2].is_span);
  EXPECT_THAT(convention->arguments[3].letters, ElementsAre(Letter::kRef));
}

TEST(CallingConventionTest, RefusesAnotherVersion) {
  const auto convention = CallingConvention::Parse("1i_i");
  EXPECT_EQ(convention.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(convention.status().message()),
              HasSubstr("version 0 expected at position 0, found '1'"));
}

TEST(CallingConventionTest, RefusesMalformedTextWithItsPosition) {
  const struct {
    const char* text;
    const char* position;
  } kBad[] = {
      {"0x", "position 1"},        {"0i_i_i", "position 4"},
      {"0iv_v", "position 2"},     {"0vi_v", "position 2"},
      {"0i_vi", "position 4"},     {"0CD_v", "position 2"},
      {"0CiCiDD_v", "position 3"}, {"0Ci_v", "position 3"},
      {"0iD_v", "position 2"},     {"0i_CiD", "position 3"},
      {"0Ci", "position 3"},       {"0i ", "position 2"},
  };
  for (const auto& [text, position] : kBad) {
    const auto convention = CallingConvention::Parse(text);
    EXPECT_EQ(convention.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(convention.status().message()), HasSubstr(position))
        << text;
  }
}

TEST(CallingConventionTest, MessagesEscapeAndShortenTheText) {
  const std::string text = "0" + std::string(1000, 'i') + "\x01";
  const auto convention = CallingConvention::Parse(text);
  EXPECT_LT(convention.status().message().size(), 300u);
  EXPECT_THAT(std::string(convention.status().message()), HasSubstr("\\x01"));
}

TEST(CallingConventionTest, DescribesItselfInWords) {
  const auto describe = [](const char* text) {
    return CallingConvention::Parse(text)->Describe();
  };
  EXPECT_EQ(describe("0v_v"), "() -> () [0v_v]");
  EXPECT_EQ(describe("0rfFIi_rI"),
            "(ref, f32, f64, i64, i32) -> (ref, i64) [0rfFIi_rI]");
  EXPECT_EQ(describe("0rCiIDCrDf_v"),
            "(ref, (i32, i64)..., (ref)..., f32) -> () [0rCiIDCrDf_v]");
  EXPECT_LT(describe(("0" + std::string(30000, 'r') + "_v").c_str()).size(),
            400u);
}

TEST(CallingConventionTest, RefusesANulInside) {
  EXPECT_FALSE(CallingConvention::Parse(absl::string_view("0i\0i_v", 6)).ok());
}

}  // namespace
}  // namespace takt::vm
