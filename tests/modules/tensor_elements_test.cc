#include "modules/tensor_elements.h"

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

using hal::NumericalKind;

class TensorElementsTest : public testing::Test {
 protected:
  TensorElements Read(NumericalKind kind, uint32_t bits,
                      const std::string& bytes, std::vector<int64_t> shape) {
    auto view = hal::BufferView::Create(
        calls_.BufferOf(bytes), hal::MakeElementType(kind, bits),
        hal::EncodingType::kDenseRowMajor, shape);
    EXPECT_TRUE(view.ok()) << view.status();
    views_.push_back(*std::move(view));
    auto elements = TensorElements::Read(calls_.device(), *views_.back());
    EXPECT_TRUE(elements.ok()) << elements.status();
    return *std::move(elements);
  }
  // The only element as a number.
  double NumberOf(NumericalKind kind, uint32_t bits, const std::string& bytes) {
    TensorElements::Number number;
    EXPECT_TRUE(Read(kind, bits, bytes, {}).NumberAt(0, &number));
    EXPECT_EQ(number.imaginary, 0);
    return number.real;
  }

  HalCalls calls_;
  std::vector<Ref<hal::BufferView>> views_;
};

TEST_F(TensorElementsTest, ReadsNumbersOfEveryKind) {
  EXPECT_EQ(NumberOf(NumericalKind::kInteger, 8, "\xfe"), -2);
  EXPECT_EQ(NumberOf(NumericalKind::kSignedInteger, 16, "\xff\xff"), -1);
  EXPECT_EQ(NumberOf(NumericalKind::kUnsignedInteger, 16, "\xff\xff"), 65535);
  EXPECT_EQ(NumberOf(NumericalKind::kInteger, 64,
                     BytesOfValues<int64_t>({-5000000000})),
            -5e9);
  EXPECT_EQ(NumberOf(NumericalKind::kBoolean, 8, "\x01"), 1);
  EXPECT_EQ(NumberOf(NumericalKind::kFloatIeee, 16, std::string("\x00\xc0", 2)),
            -2);
  EXPECT_EQ(
      NumberOf(NumericalKind::kFloatIeee, 32, BytesOfValues<float>({1.5f})),
      1.5);
  EXPECT_EQ(
      NumberOf(NumericalKind::kFloatIeee, 64, BytesOfValues<double>({1e300})),
      1e300);
  EXPECT_EQ(NumberOf(NumericalKind::kBFloat, 16, "\x40\x40"), 3);
  // 1.0 in each of the five: sign, then exponent bias, then mantissa.
  EXPECT_EQ(NumberOf(NumericalKind::kF8E5M2, 8, "\x3c"), 1);
  EXPECT_EQ(NumberOf(NumericalKind::kF8E4M3FN, 8, "\x38"), 1);
  EXPECT_EQ(NumberOf(NumericalKind::kF8E5M2FNUZ, 8, "\x40"), 1);
  EXPECT_EQ(NumberOf(NumericalKind::kF8E4M3FNUZ, 8, "\x40"), 1);
  EXPECT_EQ(NumberOf(NumericalKind::kF8E8M0FNU, 8, "\x7f"), 1);
}

TEST_F(TensorElementsTest, ReadsComplexNumbers) {
  TensorElements::Number number;
  ASSERT_TRUE(
      Read(NumericalKind::kComplex, 64, BytesOfValues<float>({1.5f, -2.5f}), {})
          .NumberAt(0, &number));
  EXPECT_EQ(number.real, 1.5);
  EXPECT_EQ(number.imaginary, -2.5);
  ASSERT_TRUE(
      Read(NumericalKind::kComplex, 128, BytesOfValues<double>({3, 4}), {})
          .NumberAt(0, &number));
  EXPECT_EQ(number.imaginary, 4);
}

TEST_F(TensorElementsTest, ReadsPackedElements) {
  // 4-bit integers 1, -1, 7, -8, two a byte, the first in the low bits.
  const TensorElements elements =
      Read(NumericalKind::kSignedInteger, 4, "\xf1\x87", {4});
  ASSERT_EQ(elements.size(), 4u);
  const double expected[] = {1, -1, 7, -8};
  for (uint64_t i = 0; i < 4; ++i) {
    TensorElements::Number number;
    ASSERT_TRUE(elements.NumberAt(i, &number));
    EXPECT_EQ(number.real, expected[i]);
  }
  EXPECT_EQ(elements.BitsAt(3)[0], 8);
}

TEST_F(TensorElementsTest, OpaqueElementsAreBitsOnly) {
  const TensorElements elements =
      Read(NumericalKind::kOpaque, 16, "\x01\x02\x03\x04", {2});
  TensorElements::Number number;
  EXPECT_FALSE(elements.NumberAt(0, &number));
  EXPECT_EQ(elements.BitsAt(1)[0], 3);
  EXPECT_EQ(elements.BitsAt(1)[1], 4);
  EXPECT_EQ(elements.TextAt(1), "0304");
}

TEST_F(TensorElementsTest, NamesIndicesOutermostFirst) {
  const TensorElements elements =
      Read(NumericalKind::kInteger, 8, std::string(24, '\0'), {2, 3, 4});
  EXPECT_EQ(elements.IndexText(0), "[0, 0, 0]");
  EXPECT_EQ(elements.IndexText(4), "[0, 1, 0]");
  EXPECT_EQ(elements.IndexText(23), "[1, 2, 3]");
  EXPECT_EQ(Read(NumericalKind::kInteger, 8, "x", {}).IndexText(0), "[]");
}

TEST_F(TensorElementsTest, CountsNoElementsWhereADimensionIsZero) {
  EXPECT_EQ(Read(NumericalKind::kInteger, 8, "", {0}).size(), 0u);
  EXPECT_EQ(Read(NumericalKind::kInteger, 8, "", {3, 0, 5}).size(), 0u);
}

TEST_F(TensorElementsTest, PrintsAsTheToolsDo) {
  EXPECT_EQ(
      Read(NumericalKind::kFloatIeee, 32, BytesOfValues<float>({1, 4e10f}), {2})
          .TextAt(1),
      "4E+10");
  EXPECT_EQ(Read(NumericalKind::kBoolean, 8, "\x01", {}).TextAt(0), "01");
}

// Memory that the host cannot see is copied by the device.
TEST_F(TensorElementsTest, ReadsThroughTheDevice) {
  const auto visible = calls_.BufferOf("abcd");
  const auto hidden = hal::Buffer::WrapHost(
      visible, visible->data(), 4, hal::kMemoryTypeDeviceLocal,
      hal::kUsageTransferAndStorage, hal::kAccessRead);
  auto view = hal::BufferView::Create(
      hidden, hal::MakeElementType(NumericalKind::kInteger, 8),
      hal::EncodingType::kDenseRowMajor, {4});
  TAKT_ASSERT_OK(view);
  auto elements = TensorElements::Read(calls_.device(), **view);
  TAKT_ASSERT_OK(elements);
  visible->data()[2] = 'X';  // The copy is made.
  EXPECT_EQ(elements->TextAt(2), "99");
}

TEST_F(TensorElementsTest, RejectsWhatCannotBeRead) {
  const auto view =
      *hal::BufferView::Create(calls_.BufferOf("abcd", hal::kAccessWrite),
                               hal::MakeElementType(NumericalKind::kInteger, 8),
                               hal::EncodingType::kDenseRowMajor, {4});
  EXPECT_THAT(TensorElements::Read(calls_.device(), *view),
              FailsWith(kDenied, ""));
  // With an opaque encoding, a view may be larger than its buffer.
  const auto large = *hal::BufferView::Create(
      calls_.BufferOf("abcd"), hal::MakeElementType(NumericalKind::kInteger, 8),
      hal::EncodingType::kOpaque, {5});
  EXPECT_THAT(TensorElements::Read(calls_.device(), *large),
              FailsWith(kOutOfRange, "5xi8 needs 5 bytes"));
}

}  // namespace
}  // namespace takt::modules
