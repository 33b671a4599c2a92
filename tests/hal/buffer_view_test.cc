// Expected texts are what iree-run-module 3.13.0 prints for the same input.
#include "hal/buffer_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace takt::hal {
namespace {

template <typename T>
Ref<BufferView> MakeView(const char* type, std::vector<int64_t> shape,
                         std::vector<T> values) {
  Ref<Storage> storage = *CreateHeapStorage(values.size() * sizeof(T));
  std::copy(values.begin(), values.end(),
            reinterpret_cast<T*>(storage->data()));
  auto view = BufferView::Create(
      Buffer::Create(storage, kMemoryTypeAll, 0xc03, kAccessAll),
      *ParseElementType(type), EncodingType::kDenseRowMajor, shape);
  EXPECT_TRUE(view.ok()) << view.status();
  return *view;
}

std::string Text(const Ref<BufferView>& view, size_t max_count = 1024) {
  auto text = FormatBufferView(*view, max_count);
  EXPECT_TRUE(text.ok()) << text.status();
  return *text;
}

TEST(BufferViewTest, PrintsFloats) {
  EXPECT_EQ(
      Text(MakeView<float>("f32", {2, 3}, {1, 2.5f, -3, 4e10f, NAN, 1e-7f})),
      "2x3xf32=[1 2.5 -3][4E+10 NAN 1E-07]");
  EXPECT_EQ(Text(MakeView<double>("f64", {}, {3.14159265358979})),
            "f64=3.14159");
  EXPECT_EQ(Text(MakeView<float>("f32", {4},
                                 {1e-40f, 123456789.0f, -0.0f, -INFINITY})),
            "4xf32=9.99995E-41 1.23457E+08 -0 -INF");
  EXPECT_EQ(Text(MakeView<uint16_t>("f16", {3}, {0x3e00, 0x7c00, 0xfc00})),
            "3xf16=1.5 INF -INF");
  EXPECT_EQ(Text(MakeView<uint16_t>("bf16", {3}, {0x3fc0, 0x4049, 0x4780})),
            "3xbf16=1.5 3.14062 65536");
  EXPECT_EQ(Text(MakeView<uint8_t>("f8E4M3FN", {2}, {0x3c, 0x7e})),
            "2xf8E4M3FN=1.5 448");
  EXPECT_EQ(Text(MakeView<uint8_t>("f8E8M0FNU", {3}, {255, 0, 129})),
            "3xf8E8M0FNU=NAN 5.87747E-39 4");
}

TEST(BufferViewTest, PrintsIntegers) {
  EXPECT_EQ(Text(MakeView<int8_t>("i8", {2, 2, 2}, {1, -2, 3, 4, 5, 6, 7, 8})),
            "2x2x2xi8=[[1 -2][3 4]][[5 6][7 8]]");
  EXPECT_EQ(Text(MakeView<uint8_t>("ui8", {3}, {255, 1, 2})), "3xui8=255 1 2");
  EXPECT_EQ(Text(MakeView<int16_t>("si16", {2}, {-3, 4})), "2xsi16=-3 4");
  EXPECT_EQ(Text(MakeView<int32_t>("i32", {1}, {-7})), "1xi32=-7");
  EXPECT_EQ(
      Text(MakeView<int64_t>("i64", {}, {std::numeric_limits<int64_t>::min()})),
      "i64=-9223372036854775808");
  EXPECT_EQ(Text(MakeView<uint64_t>("ui64", {1}, {~uint64_t{0}})),
            "1xui64=18446744073709551615");
}

TEST(BufferViewTest, PrintsTheBytesOfOtherTypes) {
  EXPECT_EQ(Text(MakeView<uint8_t>("i1", {3}, {1, 0, 1})), "3xi1=01 00 01");
  EXPECT_EQ(Text(MakeView<float>("cf64", {2}, {1, 2, 1, 2})),
            "2xcf64=0000803F00000040 0000803F00000040");
  EXPECT_EQ(Text(MakeView<uint8_t>("*16", {2}, {1, 2, 3, 4})),
            "2x*16=0102 0304");
  EXPECT_EQ(Text(MakeView<uint8_t>(
                "cf128", {1},
                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff})),
            "1xcf128=000102030405060708090A0B0C0D0EFF");
}

TEST(BufferViewTest, UnpacksElementsOfLessThanAByte) {
  EXPECT_EQ(Text(MakeView<uint8_t>("i4", {3}, {0x2f, 0x08})), "3xi4=-1 2 -8");
  EXPECT_EQ(Text(MakeView<uint8_t>("ui4", {3}, {0x2f, 0x08})), "3xui4=15 2 8");
  EXPECT_EQ(Text(MakeView<uint8_t>("i2", {4}, {0b11'10'01'00})),
            "4xi2=0 1 -2 -1");
  EXPECT_EQ(Text(MakeView<uint8_t>("*4", {2}, {0xa5})), "2x*4=05 0A");
}

TEST(BufferViewTest, PrintsEmptyTensors) {
  EXPECT_EQ(Text(MakeView<float>("f32", {0}, {})), "0xf32=");
  EXPECT_EQ(Text(MakeView<float>("f32", {2, 0, 3}, {})), "2x0x3xf32=[][]");
  EXPECT_EQ(Text(MakeView<float>("f32", {1, 1, 1}, {5})), "1x1x1xf32=[[5]]");
  // Without elements to limit it, the text must not grow with the shape.
  EXPECT_EQ(Text(MakeView<float>("f32", {int64_t{1} << 40, 0}, {})),
            "1099511627776x0xf32=...");
}

TEST(BufferViewTest, StopsAtTheElementLimit) {
  const auto view = MakeView<int32_t>("i32", {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Text(view, 2), "2x3xi32=[1 2...][...]");
  EXPECT_EQ(Text(view, 3), "2x3xi32=[1 2 3][...]");
  EXPECT_EQ(Text(view, 4), "2x3xi32=[1 2 3][4...]");
  EXPECT_EQ(Text(view, 6), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(Text(view, 0), "2x3xi32=[...][...]");
  EXPECT_EQ(Text(MakeView<int32_t>("i32", {6}, {1, 2, 3, 4, 5, 6}), 3),
            "6xi32=1 2 3...");
}

TEST(BufferViewTest, RefusesShapesThatDoNotFit) {
  Ref<Buffer> buffer =
      Buffer::Create(*CreateHeapStorage(15), kMemoryTypeAll, 0xc03, kAccessAll);
  const auto create = [&](std::vector<int64_t> shape) {
    return BufferView::Create(buffer, *ParseElementType("f32"),
                              EncodingType::kDenseRowMajor, shape)
        .status()
        .code();
  };
  EXPECT_EQ(create({3}), absl::StatusCode::kOk);
  EXPECT_EQ(create({4}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(create({-1}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(create({int64_t{1} << 62, 16}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(create(std::vector<int64_t>(128, 1)), absl::StatusCode::kOk);
  EXPECT_EQ(create(std::vector<int64_t>(129, 1)),
            absl::StatusCode::kInvalidArgument);
}

TEST(BufferViewTest, RefusesNumbersWithoutBits) {
  const Ref<Buffer> buffer =
      Buffer::Create(*CreateHeapStorage(0), kMemoryTypeAll, 0xc03, kAccessAll);
  for (const NumericalKind kind :
       {NumericalKind::kInteger, NumericalKind::kUnsignedInteger,
        NumericalKind::kBoolean, NumericalKind::kFloatIeee,
        NumericalKind::kF8E5M2}) {
    const auto view = BufferView::Create(buffer, MakeElementType(kind, 0),
                                         EncodingType::kDenseRowMajor, {3});
    EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
  }
  const auto opaque =
      BufferView::Create(buffer, MakeElementType(NumericalKind::kOpaque, 0),
                         EncodingType::kDenseRowMajor, {3});
  ASSERT_TRUE(opaque.ok()) << opaque.status();
  EXPECT_TRUE(FormatBufferView(**opaque, 10).ok());
}

TEST(BufferViewTest, CloneIsAViewOfTheBuffersClone) {
  const auto view = MakeView<float>("f32", {2}, {1, 2});
  CloneMap clones;
  Ref<Object> object =
      Ref<Object>::Adopt(BufferView::kType.clone(*view, clones));
  auto* clone = DynCast<BufferView>(object.get());
  ASSERT_NE(clone, nullptr);
  EXPECT_NE(clone->buffer()->storage(), view->buffer()->storage());
  EXPECT_EQ(*FormatBufferView(*clone, 10), "2xf32=1 2");
}

}  // namespace
}  // namespace takt::hal
