#include "runtime/declaration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace takt::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Declaration ParseOk(absl::string_view text) {
  auto declaration = Declaration::Parse(text);
  EXPECT_TRUE(declaration.ok()) << declaration.status();
  return declaration.ok() ? *declaration : Declaration();
}

TEST(DeclarationTest, ReadsWhatTheCompilerWrites) {
  // As iree-dump-module prints it for a function with every kind of argument.
  const Declaration declaration = ParseOk(
      "sync func @f(%input0: tensor<?x4xf32> {iree.identifier = \"x, y)\"}, "
      "%input1: f32, %input2: index, %input3: i8, %input4: !hal.buffer "
      "{iree.abi.output = 0 : index}) -> (%output0: tensor<?x4xf32> {a.b = "
      "\"q\"}, %output1: i64, %output2: tensor<f32>, %output3: tensor<2xi1>, "
      "%output4: tensor<2xcomplex<f32>>)");
  EXPECT_FALSE(declaration.is_async);
  EXPECT_EQ(declaration.name, "f");
  ASSERT_EQ(declaration.arguments.size(), 5u);
  const auto& input = declaration.arguments[0];
  EXPECT_EQ(input.name, "input0");
  EXPECT_EQ(input.type, "tensor<?x4xf32>");
  EXPECT_EQ(input.attributes, "iree.identifier = \"x, y)\"");
  EXPECT_TRUE(input.is_tensor);
  EXPECT_THAT(input.shape, ElementsAre(Declaration::kDynamic, 4));
  EXPECT_EQ(hal::ElementTypeName(input.element_type), "f32");
  EXPECT_EQ(declaration.arguments[2].type, "index");
  EXPECT_FALSE(declaration.arguments[2].is_tensor);
  EXPECT_EQ(declaration.arguments[4].type, "!hal.buffer");
  EXPECT_EQ(declaration.arguments[4].attributes, "iree.abi.output = 0 : index");
  ASSERT_EQ(declaration.results.size(), 5u);
  EXPECT_TRUE(declaration.results[2].is_tensor);
  EXPECT_THAT(declaration.results[2].shape, IsEmpty());
  EXPECT_EQ(hal::ElementTypeName(declaration.results[3].element_type), "i1");
  EXPECT_EQ(hal::ElementTypeName(declaration.results[4].element_type), "cf64");
}

TEST(DeclarationTest, ReadsFunctionsWithoutArgumentsOrResults) {
  EXPECT_THAT(ParseOk("sync func @f()").results, IsEmpty());
  EXPECT_THAT(ParseOk("sync func @f() -> ()").arguments, IsEmpty());
  const Declaration declaration = ParseOk("async func @h() -> (%output0: f32)");
  EXPECT_TRUE(declaration.is_async);
  ASSERT_EQ(declaration.results.size(), 1u);
  EXPECT_EQ(declaration.results[0].type, "f32");
}

TEST(DeclarationTest, KeepsTypesThatHoldBracketsTogether) {
  const Declaration declaration = ParseOk(
      "sync func @f(%a: (i32, f32) -> i64, %b: tuple<tensor<2xi8>, i32>, "
      "%c: !util.list<?>) -> (%o: !util.list<!hal.buffer_view>)");
  ASSERT_EQ(declaration.arguments.size(), 3u);
  EXPECT_EQ(declaration.arguments[0].type, "(i32, f32) -> i64");
  EXPECT_EQ(declaration.arguments[1].type, "tuple<tensor<2xi8>, i32>");
  EXPECT_FALSE(declaration.arguments[1].is_tensor);
  EXPECT_EQ(declaration.results[0].type, "!util.list<!hal.buffer_view>");
}

TEST(DeclarationTest, LeavesUnknownElementsAsText) {
  const Declaration declaration =
      ParseOk("sync func @f(%a: tensor<4x!quant.uniform<i8:f32, 2.0>>)");
  ASSERT_EQ(declaration.arguments.size(), 1u);
  EXPECT_FALSE(declaration.arguments[0].is_tensor);
}

TEST(DeclarationTest, IgnoresAnEncoding) {
  const Declaration declaration =
      ParseOk("sync func @f(%a: tensor<4x8xf16, #my.encoding<[1, 2]>>)");
  ASSERT_EQ(declaration.arguments.size(), 1u);
  EXPECT_TRUE(declaration.arguments[0].is_tensor);
  EXPECT_THAT(declaration.arguments[0].shape, ElementsAre(4, 8));
}

TEST(DeclarationTest, DimensionsThatOverflowMakeNoTensor) {
  const Declaration declaration =
      ParseOk("sync func @f(%a: tensor<99999999999999999999xf32>)");
  ASSERT_EQ(declaration.arguments.size(), 1u);
  EXPECT_FALSE(declaration.arguments[0].is_tensor);
}

TEST(DeclarationTest, RefusesWhatHasAnotherForm) {
  for (absl::string_view text : {
           "",
           "func @f()",
           "sync func f()",
           "sync func @f",
           "sync func @f(",
           "sync func @f()->()",
           "sync func @f() -> (",
           "sync func @f() -> () ",
           "sync func @f(%a)",
           "sync func @f(%a: )",
           "sync func @f(a: i32)",
           "sync func @f(%a: i32,%b: i32)",
           "sync func @f(%a: tensor<4xf32)",
           "sync func @f(%a: tensor<4xf32>>)",
           "sync func @f(%a: i32 {x = \"y)",
           "sync func @f(%a: i32 {x)",
           "sync func @f(%a: i32 {\"\\",
       }) {
    auto declaration = Declaration::Parse(text);
    EXPECT_EQ(declaration.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(declaration.status().message()),
                HasSubstr("position"));
  }
}

TEST(DeclarationTest, RefusesEveryTruncation) {
  const std::string text =
      "sync func @f(%a: tensor<?x4xf32> {k = \"v\"}) -> (%b: i32)";
  ASSERT_TRUE(Declaration::Parse(text).ok());
  for (size_t length = 0; length < text.size(); ++length) {
    // Up to the closing bracket of the arguments nothing shorter is whole.
    if (length == text.find(" ->")) continue;
    EXPECT_FALSE(Declaration::Parse(text.substr(0, length)).ok()) << length;
  }
}

TEST(DeclarationTest, WritesWhatItReads) {
  for (const absl::string_view text :
       {"sync func @f()", "async func @f.g(%a: f32)",
        "sync func @f() -> (%output0: tensor<2xi1>)",
        "sync func @f(%input0: tensor<?x4xf32> {a = \"x, y)\"}, %input1: "
        "!hal.buffer) -> (%output0: i64, %output1: tensor<f32>)"}) {
    EXPECT_EQ(*ParseOk(text).ToText(), text);
  }
}

TEST(DeclarationTest, RefusesToWriteWhatWouldBeReadAsSomethingElse) {
  const Declaration good = ParseOk("sync func @f(%a: f32)");
  for (const absl::string_view text : {"f32, %b: f32", "f32)", "", "f32 {a}"}) {
    Declaration bad = good;
    bad.arguments[0].type = std::string(text);
    EXPECT_EQ(bad.ToText().status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
  Declaration bad = good;
  bad.name = "f(";
  EXPECT_FALSE(bad.ToText().ok());
}

TEST(DeclarationTest, RefusesTooManyItems) {
  std::string text = "sync func @f(%a: i32";
  for (int i = 0; i < 5000; ++i) text += ", %a: i32";
  EXPECT_FALSE(Declaration::Parse(text + ")").ok());
}

}  // namespace
}  // namespace takt::runtime
