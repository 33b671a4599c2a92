#include "hal/compact_signature.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

using ItemKind = SignatureItem::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CompactSignatureTest, ReadsTheWorkedExample) {
  const auto signature = CompactSignature::Parse("I6!B3!d4R6!B3!d4");
  ASSERT_TRUE(signature.ok()) << signature.status();
  ASSERT_EQ(signature->arguments.size(), 1u);
  EXPECT_EQ(signature->arguments[0].kind, ItemKind::kBuffer);
  EXPECT_EQ(ElementTypeName(signature->arguments[0].element_type), "f32");
  EXPECT_THAT(signature->arguments[0].shape, ElementsAre(4));
  EXPECT_EQ(signature->results, signature->arguments);
}

TEST(CompactSignatureTest, ReadsEveryKindOfItem) {
  const auto signature =
      CompactSignature::Parse("I26!S3!t6B9!t4d-1d16O1!U4!x!yR1!");
  ASSERT_TRUE(signature.ok()) << signature.status();
  ASSERT_EQ(signature->arguments.size(), 4u);
  EXPECT_EQ(signature->arguments[0].kind, ItemKind::kScalar);
  EXPECT_EQ(ElementTypeName(signature->arguments[0].element_type), "si32");
  EXPECT_EQ(ElementTypeName(signature->arguments[1].element_type), "si8");
  EXPECT_THAT(signature->arguments[1].shape, ElementsAre(-1, 16));
  EXPECT_EQ(signature->arguments[2].kind, ItemKind::kObject);
  EXPECT_EQ(signature->arguments[3].content, "x!y");
  EXPECT_TRUE(signature->results.empty());
}

TEST(CompactSignatureTest, NamesEveryElementType) {
  const std::vector<std::string> names = {"f32", "f16",  "f64",  "bf16",
                                          "si8", "si16", "si32", "si64",
                                          "ui8", "ui16", "ui32", "ui64"};
  for (size_t t = 0; t < names.size(); ++t) {
    const std::string content = "t" + std::to_string(t);
    const std::string item =
        "S" + std::to_string(content.size() + 1) + "!" + content;
    const auto signature = CompactSignature::Parse(
        "I" + std::to_string(item.size() + 1) + "!" + item + "R1!");
    ASSERT_TRUE(signature.ok()) << signature.status();
    EXPECT_EQ(ElementTypeName(signature->arguments[0].element_type), names[t]);
  }
}

TEST(CompactSignatureTest, PrintedTextIsReadBack) {
  for (const char* text :
       {"I1!R1!", "I6!B3!d4R6!B3!d4", "I26!S3!t6B9!t4d-1d16O1!U4!x!yR1!",
        "I4!B1!R14!B10!t11d0d1d2"}) {
    const auto signature = CompactSignature::Parse(text);
    ASSERT_TRUE(signature.ok()) << signature.status();
    EXPECT_EQ(signature->ToText().value(), text);
  }
}

TEST(CompactSignatureTest, LeavesOutTheDefaultType) {
  const auto signature = CompactSignature::Parse("I8!B5!t0d4R1!");
  ASSERT_TRUE(signature.ok()) << signature.status();
  EXPECT_EQ(signature->ToText().value(), "I6!B3!d4R1!");
}

TEST(CompactSignatureTest, CannotPrintATypeWithoutANumber) {
  CompactSignature signature;
  signature.arguments.emplace_back();
  signature.arguments[0].element_type =
      MakeElementType(NumericalKind::kBoolean, 8);
  EXPECT_THAT(std::string(signature.ToText().status().message()),
              HasSubstr("i1"));
}

struct BadText {
  const char* text;
  int position;
  const char* reason;
};
class CompactSignatureErrorTest : public ::testing::TestWithParam<BadText> {};

TEST_P(CompactSignatureErrorTest, IsRefusedWithPositionAndReason) {
  const auto signature = CompactSignature::Parse(GetParam().text);
  ASSERT_FALSE(signature.ok());
  EXPECT_EQ(signature.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(signature.status().message());
  EXPECT_THAT(message, HasSubstr("position " +
                                 std::to_string(GetParam().position) + ":"));
  EXPECT_THAT(message, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    All, CompactSignatureErrorTest,
    ::testing::Values(
        BadText{"", 0, "section 'I'"}, BadText{"R1!", 0, "section 'I'"},
        BadText{"I", 1, "expected a length"}, BadText{"I1", 2, "expected '!'"},
        BadText{"I0!", 1, "length 0"}, BadText{"I1!", 3, "section 'R'"},
        BadText{"I2!R1!", 3, "unknown letter"},
        BadText{"I9!B3!d4R6!B3!d4", 8, "unknown letter"},
        BadText{"I99!B3!d4R1!", 1, "bytes are left"},
        BadText{"I6!B4!d4R1!", 4, "length 4"},
        BadText{"I12!B8!t4d-1d16R1!", 14, "unknown letter"},
        BadText{"I6!X3!d4R1!", 3, "unknown letter 'X'"},
        BadText{"I7!S4!t12R1!", 6, "unknown element type 12"},
        BadText{"I7!S4!t-1R1!", 6, "unknown element type -1"},
        BadText{"I7!B4!d-2R1!", 6, "dimension -2"},
        BadText{"I5!B2!dR1!", 7, "expected a number"},
        BadText{"I6!S3!d4R1!", 6, "unexpected content"},
        BadText{"I6!O3!t1R1!", 6, "unexpected content"},
        BadText{"I27!B23!d99999999999999999999R1!", 9, "overflow"},
        BadText{"I99999999999999999999!R1!", 1, "overflow"},
        BadText{"I1!R1!x", 6, "after the last section"}));

TEST(CompactSignatureTest, RefusesEveryTruncation) {
  const std::string text = "I26!S3!t6B9!t4d-1d16O1!U4!x!yR6!B3!d4";
  ASSERT_TRUE(CompactSignature::Parse(text).ok());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(CompactSignature::Parse(text.substr(0, length)).ok())
        << length;
  }
}

}  // namespace
}  // namespace takt::hal
