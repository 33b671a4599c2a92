#include "hal/buffer_fit.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

using FitKind = BufferFit::Kind;
using Conversion = BufferFit::Conversion;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ElementType Type(absl::string_view name) {
  return ParseElementType(name).value();
}

SignatureItem Item(absl::string_view type, std::vector<int64_t> shape) {
  SignatureItem item;
  item.element_type = Type(type);
  item.shape = std::move(shape);
  return item;
}

HostBuffer Host(absl::string_view type, std::vector<int64_t> shape,
                uint64_t byte_length) {
  HostBuffer host;
  host.element_type = Type(type);
  host.shape = std::move(shape);
  host.byte_length = byte_length;
  host.address = 0x1000;
  return host;
}

TEST(BufferOracleTest, UsesWhatFits) {
  const BufferFit answer =
      DescribeBuffer({}, Item("f32", {-1, 3}), Host("f32", {2, 3}, 24));
  EXPECT_EQ(answer.kind, FitKind::kUse) << answer.reason;
  EXPECT_EQ(answer.buffer.byte_length, 24u);
  EXPECT_THAT(answer.buffer.byte_strides, ElementsAre(12, 4));
}

TEST(BufferOracleTest, CopiesForAlignment) {
  HostBuffer host = Host("f32", {4}, 16);
  host.address = 0x1010;
  const BufferFit answer = DescribeBuffer({}, Item("f32", {4}), host);
  EXPECT_EQ(answer.kind, FitKind::kConvert);
  EXPECT_THAT(answer.conversions, ElementsAre(Conversion::kAlignmentCopy));
  EXPECT_EQ(answer.buffer.alignment, 64u);
}

TEST(BufferOracleTest, MakesStridedBuffersDense) {
  for (const std::vector<int64_t>& strides :
       {std::vector<int64_t>{4, 8}, {-12, 4}, {0, 0}, {16, 4}}) {
    HostBuffer host = Host("f32", {2, 3}, 24);
    host.byte_strides = strides;
    const BufferFit answer = DescribeBuffer({}, Item("f32", {2, 3}), host);
    EXPECT_EQ(answer.kind, FitKind::kConvert);
    EXPECT_THAT(answer.conversions, ElementsAre(Conversion::kDenseCopy));
    EXPECT_THAT(answer.buffer.byte_strides, ElementsAre(12, 4));
  }
}

TEST(BufferOracleTest, IgnoresStridesThatAreNeverStepped) {
  HostBuffer host = Host("f32", {1, 3}, 12);
  host.byte_strides = {-400, 4};
  EXPECT_EQ(DescribeBuffer({}, Item("f32", {1, 3}), host).kind, FitKind::kUse);
  HostBuffer empty = Host("f32", {0, 3}, 0);
  empty.byte_strides = {7, 9};
  EXPECT_EQ(DescribeBuffer({}, Item("f32", {0, 3}), empty).kind, FitKind::kUse);
}

TEST(BufferOracleTest, TakesIntegersOfAnySignAsTheyAre) {
  for (const char* host : {"i8", "si8", "ui8", "i1", "*8"}) {
    const BufferFit answer =
        DescribeBuffer({}, Item("ui8", {4}), Host(host, {4}, 4));
    EXPECT_EQ(answer.kind, FitKind::kUse) << host << ": " << answer.reason;
  }
  EXPECT_EQ(DescribeBuffer({}, Item("ui8", {4}), Host("*16", {4}, 8)).kind,
            FitKind::kUnsupported);
}

TEST(BufferOracleTest, WidensOnlyWhenAsked) {
  const SignatureItem item = Item("si32", {4});
  const HostBuffer host = Host("si8", {4}, 4);
  EXPECT_THAT(DescribeBuffer({}, item, host).reason,
              HasSubstr("expected si32, got si8"));
  const BufferFit answer =
      DescribeBuffer({}, item, host, {.allow_widening = true});
  EXPECT_EQ(answer.kind, FitKind::kConvert) << answer.reason;
  EXPECT_THAT(answer.conversions, ElementsAre(Conversion::kWidening));
  EXPECT_EQ(answer.buffer.byte_length, 16u);
}

TEST(BufferOracleTest, KnowsWhichWideningsLoseNothing) {
  EXPECT_TRUE(IsLosslessWidening(Type("f16"), Type("f32")));
  EXPECT_TRUE(IsLosslessWidening(Type("bf16"), Type("f32")));
  EXPECT_TRUE(IsLosslessWidening(Type("ui8"), Type("si16")));
  EXPECT_TRUE(IsLosslessWidening(Type("si32"), Type("f64")));
  EXPECT_FALSE(IsLosslessWidening(Type("f16"), Type("bf16")));
  EXPECT_FALSE(IsLosslessWidening(Type("bf16"), Type("f16")));
  EXPECT_FALSE(IsLosslessWidening(Type("si8"), Type("ui16")));
  EXPECT_FALSE(IsLosslessWidening(Type("si32"), Type("f32")));
  EXPECT_FALSE(IsLosslessWidening(Type("f32"), Type("si64")));
  EXPECT_FALSE(IsLosslessWidening(Type("ui16"), Type("f16")));
}

TEST(BufferOracleTest, MakesWithTheGivenShape) {
  const BufferFit answer =
      DescribeBuffer({}, Item("f32", {-1, 8}), absl::nullopt, {}, {5, 8});
  EXPECT_EQ(answer.kind, FitKind::kMake) << answer.reason;
  EXPECT_EQ(answer.buffer.byte_length, 160u);
  EXPECT_EQ(answer.buffer.memory_type, kMemoryTypeAll);
  EXPECT_EQ(DescribeBuffer({}, Item("f32", {2}), absl::nullopt).kind,
            FitKind::kMake);
}

TEST(BufferOracleTest, SaysWhyNot) {
  const SignatureItem item = Item("f32", {2, 3});
  EXPECT_THAT(DescribeBuffer({}, item, Host("f32", {6}, 24)).reason,
              HasSubstr("rank: expected 2, got 1"));
  EXPECT_THAT(DescribeBuffer({}, item, Host("f32", {2, 4}, 32)).reason,
              HasSubstr("dimension 1: expected 3, got 4"));
  EXPECT_THAT(DescribeBuffer({}, item, Host("f32", {2, 3}, 23)).reason,
              HasSubstr("byte length: expected 24, got 23"));
  EXPECT_THAT(DescribeBuffer({}, Item("f32", {-1}), absl::nullopt).reason,
              HasSubstr("dimension 0"));
  EXPECT_THAT(
      DescribeBuffer({}, Item("f32", {-1, -1}),
                     Host("f32", {int64_t{1} << 40, int64_t{1} << 40}, 0))
          .reason,
      HasSubstr("overflow"));
  DeviceBufferTraits device;
  device.element_types = {Type("si8")};
  EXPECT_THAT(DescribeBuffer(device, item, absl::nullopt).reason,
              HasSubstr("no element type f32"));
  SignatureItem scalar = item;
  scalar.kind = SignatureItem::Kind::kScalar;
  EXPECT_THAT(DescribeBuffer({}, scalar, absl::nullopt).reason,
              HasSubstr("not a buffer"));
}

TEST(BufferOracleTest, RefusesElementsOfPartOfAByte) {
  EXPECT_THAT(DescribeBuffer({}, Item("i4", {8}), absl::nullopt).reason,
              HasSubstr("4 bits"));
}

TEST(BufferOracleTest, RefusesAStrideTooFew) {
  HostBuffer host = Host("f32", {2, 3}, 24);
  host.byte_strides = {4};
  EXPECT_THAT(DescribeBuffer({}, Item("f32", {2, 3}), host).reason,
              HasSubstr("strides: expected 2, got 1"));
}

}  // namespace
}  // namespace takt::hal
