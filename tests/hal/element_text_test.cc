// The text of buffer views, as the iree-* tools print it.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/buffer_view.h"

namespace takt::hal {
namespace {

template <typename T>
std::string Text(absl::string_view type, const std::vector<int64_t>& shape,
                 const std::vector<T>& elements, size_t limit = 1024) {
  alignas(64) uint8_t bytes[1024] = {};
  std::memcpy(bytes, elements.data(), elements.size() * sizeof(T));
  const auto view = BufferView::Create(
      Buffer::WrapHost(nullptr, bytes, elements.size() * sizeof(T),
                       kMemoryTypeAll, kUsageTransferAndStorage, kAccessAll),
      ParseElementType(type).value(), EncodingType::kDenseRowMajor, shape);
  return FormatBufferView(**view, limit).value();
}

TEST(ElementTextTest, PrintsTheExtremesOfIntegers) {
  EXPECT_EQ(Text<int8_t>("i8", {2}, {-128, 127}), "2xi8=-128 127");
  EXPECT_EQ(Text<int16_t>("i16", {2}, {-32768, -1}), "2xi16=-32768 -1");
  EXPECT_EQ(Text<int32_t>("i32", {2}, {INT32_MIN, -1}), "2xi32=-2147483648 -1");
  EXPECT_EQ(Text<int64_t>("i64", {1}, {INT64_MIN}),
            "1xi64=-9223372036854775808");
  EXPECT_EQ(Text<uint32_t>("ui32", {1}, {0xffffffff}), "1xui32=4294967295");
  EXPECT_EQ(Text<uint64_t>("ui64", {1}, {UINT64_MAX}),
            "1xui64=18446744073709551615");
}

TEST(ElementTextTest, BracketsEveryLevelButTheOutermost) {
  EXPECT_EQ(Text<int32_t>("i32", {2, 2}, {1, 2, 3, 4}), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(Text<int32_t>("i32", {1, 2, 1}, {1, 2}), "1x2x1xi32=[[1][2]]");
  EXPECT_EQ(Text<float>("f32", {}, {1.5f}), "f32=1.5");
}

}  // namespace
}  // namespace takt::hal
