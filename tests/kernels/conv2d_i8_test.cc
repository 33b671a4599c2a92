// Every kernel that runs here against sums of the definition; bytes are equal.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

#if defined(__x86_64__)
// The kernels for AVX-VNNI by the instruction's other encoding, so that they
// are checked where a processor has only that one.
#include "kernels/target.h"
TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma")
namespace takt::kernels {
namespace {
#define TAKT_DOT_BYTES _mm256_dpbusd_epi32
#include "kernels/conv2d_i8_avx_vnni.inc"
}  // namespace
}  // namespace takt::kernels
TAKT_TARGET_END
#endif

namespace takt::kernels {
namespace {

int64_t Blocks(const ConvShape& s, bool is_depthwise) {
  return is_depthwise ? (s.out_c + kConvBlock - 1) / kConvBlock
                      : s.block_count();
}

// A convolution with random operands.
class Problem {
 public:
  Problem(const ConvShape& shape, bool is_depthwise, TestRandom* random)
      : s_(shape),
        is_depthwise_(is_depthwise),
        inputs_(is_depthwise ? 1 : shape.in_c / shape.groups),
        input_(
            random->Elements<int8_t>(s_.batch * s_.in_h * s_.in_w * s_.in_c)),
        weights_(random->Elements<int8_t>(s_.out_c * Taps() * inputs_)),
        packed_(
            static_cast<size_t>(Blocks(s_, is_depthwise) * Taps() * RowSize()),
            int8_t{0}) {
    for (int64_t c = 0; c < s_.out_c; ++c) {
      bias_.push_back(static_cast<int32_t>(random->Between(-9999, 9999)));
      weight_sums_.push_back(0);
      added_.push_back(static_cast<float>(random->Between(-999, 999)) * .01f);
      scale_.push_back(static_cast<float>(random->Between(1, 999)) * 1e-5f);
      // Beyond the integers, too.
      if (random->Between(0, 15) == 0) scale_.back() *= 1e9f;
      for (int64_t tap = 0; tap < Taps(); ++tap) {
        for (int64_t i = 0; i < inputs_; ++i) {
          packed_[Packed(c, tap, i)] = Weight(c, tap, i);
          weight_sums_.back() += Weight(c, tap, i);
        }
      }
    }
    o_.input = input_.data();
    o_.input_end = input_.data() + input_.size();
    o_.weights = packed_.data();
    o_.bias = bias_.data();
    o_.scale = scale_.data();
    if (random->Between(0, 1) != 0) o_.weight_sums = weight_sums_.data();
    o_.input_zero = static_cast<int8_t>(random->Word());
    o_.output_zero = static_cast<int8_t>(random->Word());
    o_.low = static_cast<int32_t>(random->Between(-128, 0));
    o_.high = static_cast<int32_t>(random->Between(o_.low, 127));
    o_.added = added_.data();
    o_.input_scale = .013f;
    o_.least = static_cast<float>(random->Between(-99, 0));
    o_.most = random->Between(0, 1) != 0 ? 50.f : INFINITY;
  }

  // The same with results of floats, of a kernel that is not depthwise.
  void CheckFloats(const ConvI8Kernels& kernels, const ConvTile& tile) {
    constexpr float kUntouched = 77.25f;
    std::vector<float> out(OutputSize(), kUntouched);
    o_.floats = out.data();
    kernels.conv2d(s_, o_, tile);
    for (int64_t pixel = 0; pixel < s_.pixel_count(); ++pixel) {
      for (int64_t c = 0; c < s_.out_c; ++c) {
        ASSERT_EQ(out[static_cast<size_t>(pixel * s_.out_c + c)],
                  IsIn(tile, pixel, c) ? ExpectedFloat(pixel, c) : kUntouched)
            << "pixel " << pixel << " channel " << c;
      }
    }
  }

  // Runs the tile; everything else in the output has to stay.
  void Check(const ConvI8Kernels& kernels, const ConvTile& tile) {
    constexpr int8_t kUntouched = 77;
    std::vector<int8_t> out(OutputSize(), kUntouched);
    o_.output = out.data();
    (is_depthwise_ ? kernels.depthwise : kernels.conv2d)(s_, o_, tile);
    for (int64_t pixel = 0; pixel < s_.pixel_count(); ++pixel) {
      for (int64_t c = 0; c < s_.out_c; ++c) {
        ASSERT_EQ(out[static_cast<size_t>(pixel * s_.out_c + c)],
                  IsIn(tile, pixel, c) ? Expected(pixel, c) : kUntouched)
            << "pixel " << pixel << " channel " << c;
      }
    }
  }

 private:
  size_t OutputSize() const {
    return static_cast<size_t>(s_.pixel_count() * s_.out_c);
  }
  int64_t Taps() const { return s_.kernel_h * s_.kernel_w; }
  int64_t RowSize() const {
    return is_depthwise_ ? kConvBlock : (inputs_ + 3) / 4 * 4 * kConvBlock;
  }
  int64_t GroupChannels() const {
    return is_depthwise_ ? s_.out_c : s_.out_c / s_.groups;
  }
  int64_t BlockOf(int64_t c) const {
    const int64_t group_blocks =
        (GroupChannels() + kConvBlock - 1) / kConvBlock;
    return c / GroupChannels() * group_blocks +
           c % GroupChannels() / kConvBlock;
  }
  size_t Packed(int64_t c, int64_t tap, int64_t i) const {
    const int64_t row = (BlockOf(c) * Taps() + tap) * RowSize();
    const int64_t lane = c % GroupChannels() % kConvBlock;
    return static_cast<size_t>(
        is_depthwise_ ? row + lane
                      : row + (i / 4 * kConvBlock + lane) * 4 + i % 4);
  }
  bool IsIn(const ConvTile& tile, int64_t pixel, int64_t c) const {
    const int64_t block = BlockOf(c);
    return pixel >= tile.pixel_begin && pixel < tile.pixel_end &&
           block >= tile.block_begin && block < tile.block_end;
  }
  int8_t Weight(int64_t c, int64_t tap, int64_t i) const {
    return weights_[static_cast<size_t>((c * Taps() + tap) * inputs_ + i)];
  }

  // Of inputs and weights alone.
  int64_t Sum(int64_t pixel, int64_t c) const {
    const int64_t image = pixel / s_.out_w / s_.out_h;
    const int64_t first = is_depthwise_ ? c : c / GroupChannels() * inputs_;
    int64_t sum = 0;
    for (int64_t tap = 0; tap < Taps(); ++tap) {
      const int64_t y = pixel / s_.out_w % s_.out_h * s_.stride_h - s_.pad_top +
                        tap / s_.kernel_w * s_.dilation_h;
      const int64_t x = pixel % s_.out_w * s_.stride_w - s_.pad_left +
                        tap % s_.kernel_w * s_.dilation_w;
      const bool is_inside = y >= 0 && y < s_.in_h && x >= 0 && x < s_.in_w;
      for (int64_t i = 0; i < inputs_; ++i) {
        const int64_t value =
            is_inside ? input_[static_cast<size_t>(
                            ((image * s_.in_h + y) * s_.in_w + x) * s_.in_c +
                            first + i)]
                      : o_.input_zero;
        sum += value * Weight(c, tap, i);
      }
    }
    return sum;
  }

  float ExpectedFloat(int64_t pixel, int64_t c) const {
    const auto at = static_cast<size_t>(c);
    const int64_t sum = Sum(pixel, c) - int64_t{o_.input_zero} * bias_[at];
    const float x =
        static_cast<float>(sum) * (scale_[at] * o_.input_scale) + added_[at];
    return std::min(std::max(x, o_.least), o_.most);
  }

  int8_t Expected(int64_t pixel, int64_t c) const {
    const int64_t sum = Sum(pixel, c) + bias_[static_cast<size_t>(c)];
    const float x = static_cast<float>(sum) * scale_[static_cast<size_t>(c)];
    const auto rounded = static_cast<int64_t>(std::nearbyint(x));
    return static_cast<int8_t>(std::min<int64_t>(
        o_.high, std::max<int64_t>(o_.low, rounded + o_.output_zero)));
  }

  const ConvShape s_;
  const bool is_depthwise_;
  const int64_t inputs_;
  const std::vector<int8_t> input_;
  const std::vector<int8_t> weights_;
  std::vector<int8_t> packed_;
  std::vector<int32_t> bias_, weight_sums_;
  std::vector<float> scale_, added_;
  ConvI8Operands o_{};
};

std::vector<ConvI8Kernels> Kernels() {
  std::vector<ConvI8Kernels> kernels;
  for (const KernelTable& table : RunnableKernels()) {
    kernels.push_back(*table.conv_i8);
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512vl")) {
    kernels.push_back({&Conv2dI8, &DepthwiseI8Fours, &AttentionI8, &AddI8,
                       &LayerNormI8, &Range, &Quantize, &Dequantize,
                       &MaxPoolI8});
  }
#endif
  return kernels;
}

class Conv2dI8Test : public testing::TestWithParam<size_t> {};

TEST_P(Conv2dI8Test, BytesOfRandomShapesAndTiles) {
  const ConvI8Kernels kernels = Kernels()[GetParam()];
  TestRandom random(31);
  for (int round = 0; round < 120; ++round) {
    const bool is_depthwise = round % 3 == 0;
    const ConvShape shape = RandomConvShape(is_depthwise, &random);
    Problem problem(shape, is_depthwise, &random);
    ConvTile tile = {0, shape.pixel_count(), 0, Blocks(shape, is_depthwise)};
    if (random.Between(0, 1) != 0) {
      tile.pixel_begin = random.Between(0, tile.pixel_end);
      tile.pixel_end = random.Between(tile.pixel_begin, tile.pixel_end);
      tile.block_begin = random.Between(0, tile.block_end);
      tile.block_end = random.Between(tile.block_begin, tile.block_end);
    }
    SCOPED_TRACE(testing::Message() << "round " << round);
    problem.Check(kernels, tile);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Conv2dI8Test, FloatsOfRandomShapesAndTiles) {
  const ConvI8Kernels kernels = Kernels()[GetParam()];
  TestRandom random(33);
  for (int round = 0; round < 80; ++round) {
    const ConvShape shape = RandomConvShape(false, &random);
    Problem problem(shape, false, &random);
    ConvTile tile = {0, shape.pixel_count(), 0, shape.block_count()};
    if (random.Between(0, 1) != 0) {
      tile.pixel_begin = random.Between(0, tile.pixel_end);
      tile.block_end = random.Between(0, tile.block_end);
    }
    SCOPED_TRACE(testing::Message() << "round " << round);
    problem.CheckFloats(kernels, tile);
    if (HasFatalFailure()) return;
  }
}

// More of a pixel than is copied at once, also across taps; images; and windows
// of one tap that leave the input.
TEST_P(Conv2dI8Test, BytesOfWindowsOfAllSizes) {
  const ConvI8Kernels kernels = Kernels()[GetParam()];
  TestRandom random(34);
  const ConvShape shapes[] = {
      {1, 3, 5, 5001, 3, 5, 20, 1, 1, 1, 1, 1, 1, 0, 0, 1},
      {2, 5, 4, 4100, 3, 2, 34, 1, 1, 2, 2, 1, 1, 0, 0, 2},
      {1, 5, 7, 300, 5, 7, 20, 3, 3, 1, 1, 1, 1, 1, 1, 1},
      {1, 6, 5, 701, 6, 5, 18, 3, 3, 1, 1, 2, 2, 2, 2, 1},
      {1, 4, 9, 520, 4, 9, 36, 1, 5, 1, 1, 1, 1, 0, 2, 2},
      {2, 17, 19, 3, 9, 10, 33, 7, 7, 2, 2, 1, 1, 3, 3, 1},
      {1, 9, 14, 3, 9, 14, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1},
      {1, 9, 14, 3, 9, 14, 6, 3, 3, 1, 1, 1, 1, 1, 1, 3},
      {1, 9, 14, 3, 5, 10, 65, 5, 5, 1, 1, 1, 1, 0, 0, 1},
      {1, 3, 4, 24, 4, 5, 16, 1, 1, 1, 1, 1, 1, 0, 0, 1},
      {1, 3, 4, 24, 4, 5, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1},
  };
  for (const ConvShape& shape : shapes) {
    ASSERT_EQ(CheckConvShape(shape), nullptr);
    Problem problem(shape, false, &random);
    ConvTile tile = {0, shape.pixel_count(), 0, shape.block_count()};
    SCOPED_TRACE(testing::Message() << "channels " << shape.in_c);
    problem.Check(kernels, tile);
    tile.pixel_begin = random.Between(1, tile.pixel_end - 1);
    problem.Check(kernels, tile);
    problem.CheckFloats(kernels, tile);
    if (HasFatalFailure()) return;
  }
}

// Those of networks, for which kernels may take Winograd's method: rows of even
// and odd widths, more channels than are copied or summed at once, and tiles
// that begin within a row.
TEST_P(Conv2dI8Test, ThreeWideKernelsOfManyChannels) {
  const ConvI8Kernels kernels = Kernels()[GetParam()];
  TestRandom random(35);
  for (int round = 0; round < 30; ++round) {
    ConvShape shape = RandomConvShape(false, &random);
    shape.kernel_h = shape.kernel_w = 3;
    shape.stride_h = shape.stride_w = 1;
    shape.dilation_h = shape.dilation_w = round % 8 == 0 ? 2 : 1;
    shape.groups = 1;
    shape.in_c = round == 7 ? 512 : 16 * random.Between(1, 11);
    shape.out_c = random.Between(1, 150);
    shape.out_w = random.Between(1, 17);
    Problem problem(shape, false, &random);
    ConvTile tile = {0, shape.pixel_count(), 0, shape.block_count()};
    SCOPED_TRACE(testing::Message() << "round " << round);
    problem.Check(kernels, tile);
    tile.pixel_begin = random.Between(0, tile.pixel_end - 1);
    tile.block_begin = random.Between(0, tile.block_end - 1);
    problem.Check(kernels, tile);
    problem.CheckFloats(kernels, tile);
    if (HasFatalFailure()) return;
  }
}

// Those of networks: pixels beside each other share inputs, as do channels.
TEST_P(Conv2dI8Test, BytesOfThreeWideDepthwiseKernels) {
  const ConvI8Kernels kernels = Kernels()[GetParam()];
  TestRandom random(32);
  for (int round = 0; round < 40; ++round) {
    ConvShape shape = RandomConvShape(true, &random);
    shape.kernel_h = shape.kernel_w = 3;
    shape.pad_top = shape.pad_left = random.Between(0, 2);
    shape.stride_h = shape.stride_w = random.Between(1, 2);
    shape.dilation_h = shape.dilation_w =
        round % 4 == 0 ? random.Between(1, 3) : 1;
    if (round % 2 == 0) {
      shape.groups = shape.in_c = shape.out_c = 16 * random.Between(1, 30);
    }
    Problem problem(shape, true, &random);
    ConvTile tile = {0, shape.pixel_count(), 0, Blocks(shape, true)};
    tile.pixel_begin = random.Between(0, tile.pixel_end - 1);
    tile.block_begin = random.Between(0, tile.block_end - 1);
    SCOPED_TRACE(testing::Message() << "round " << round);
    problem.Check(kernels, tile);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Conv2dI8Test,
                         testing::Range<size_t>(0, Kernels().size()));

}  // namespace
}  // namespace takt::kernels
