// Sums and layer norms of bytes of every kernel that runs here against the
// definitions; bytes are equal.
#include "kernels/rows_i8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

constexpr int8_t kUntouchedByte = 77;

int8_t ToByte(double x, int32_t zero) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyint(x) + zero, -128.0, 127.0));
}

TEST(AddI8Test, EveryKernelComputesTheDefinition) {
  TestRandom random(1);
  for (const int64_t count : {1, 15, 16, 100, 1000}) {
    const std::vector<int8_t> left = random.Elements<int8_t>(count);
    const std::vector<int8_t> right = random.Elements<int8_t>(count);
    std::vector<int8_t> out(left.size());
    const AddI8Operands o = {left.data(), right.data(), out.data(), 3,   -7,
                             -20,         .02f,         .07f,       .06f};
    const int64_t begin = count / 5, end = count - count / 4;
    for (const KernelTable& kernels : RunnableKernels()) {
      std::fill(out.begin(), out.end(), kUntouchedByte);
      kernels.conv_i8->add(o, begin, end);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        // In floats, step by step.
        const float a = static_cast<float>(left[at] - 3) * .02f;
        const float b = static_cast<float>(right[at] + 7) * .07f;
        const float sum = a + b;
        const int8_t expected =
            ToByte(static_cast<double>(sum / .06f), o.output_zero);
        ASSERT_EQ(out[at], i >= begin && i < end ? expected : kUntouchedByte)
            << i;
      }
    }
  }
}

TEST(AddI8Test, KeepsResultsInABytesRange) {
  const int8_t left[] = {127, -128}, right[] = {127, -128};
  int8_t out[2];
  for (const KernelTable& kernels : RunnableKernels()) {
    kernels.conv_i8->add({left, right, out, 0, 0, 5, 1.f, 1.f, 1e-30f}, 0, 2);
    EXPECT_EQ(out[0], 127);
    EXPECT_EQ(out[1], -128);
  }
}

TEST(LayerNormI8Test, EveryKernelComputesTheDefinition) {
  TestRandom random(2);
  for (const int64_t size : {1, 16, 37, 192, 1000}) {
    constexpr int64_t kRows = 5;
    const std::vector<int8_t> input = random.Elements<int8_t>(kRows * size);
    std::vector<float> gamma, beta;
    for (int64_t i = 0; i < size; ++i) {
      gamma.push_back(static_cast<float>(random.Between(-100, 100)) * .013f);
      beta.push_back(static_cast<float>(random.Between(-100, 100)) * .007f);
    }
    std::vector<int8_t> first;
    for (const KernelTable& kernels : RunnableKernels()) {
      std::vector<int8_t> out(input.size(), kUntouchedByte);
      kernels.conv_i8->layer_norm({input.data(), gamma.data(), beta.data(),
                                   out.data(), size, -9, .04f, 1e-5f, .03f},
                                  1, 4);
      for (int64_t row = 0; row < kRows; ++row) {
        double mean = 0, variance = 0;
        const int8_t* const in = input.data() + row * size;
        for (int64_t i = 0; i < size; ++i) mean += in[i];
        mean /= static_cast<double>(size);
        for (int64_t i = 0; i < size; ++i)
          variance += std::pow(in[i] - mean, 2);
        variance /= static_cast<double>(size);
        const double factor = .04 / std::sqrt(.04 * .04 * variance + 1e-5);
        for (int64_t i = 0; i < size; ++i) {
          const auto at = static_cast<size_t>(i);
          const double exact =
              ((in[i] - mean) * factor * static_cast<double>(gamma[at]) +
               static_cast<double>(beta[at])) /
              .03;
          const int8_t found = out[static_cast<size_t>(row * size + i)];
          if (row < 1 || row >= 4) {
            ASSERT_EQ(found, kUntouchedByte);
          } else if (std::abs(exact - std::floor(exact) - .5) > 1e-3) {
            ASSERT_EQ(found, ToByte(exact, -9)) << "row " << row << " at " << i;
          }
        }
      }
      // Of halves, too.
      if (first.empty()) first = out;
      ASSERT_EQ(out, first);
    }
  }
}

TEST(LayerNormI8Test, ARowOfOneValueIsBeta) {
  const std::vector<int8_t> input(64, 127);
  const std::vector<float> gamma(64, 5.f), beta(64, 2.f);
  std::vector<int8_t> out(64);
  for (const KernelTable& kernels : RunnableKernels()) {
    kernels.conv_i8->layer_norm({input.data(), gamma.data(), beta.data(),
                                 out.data(), 64, 1, .5f, 1e-5f, 1.f},
                                0, 1);
    EXPECT_EQ(out, std::vector<int8_t>(64, 3));
  }
}

TEST(RangeTest, EveryKernelFindsTheLeastAndTheGreatest) {
  TestRandom random(3);
  for (const int64_t count : {0, 1, 15, 64, 1000}) {
    std::vector<float> input;
    float low = 0, high = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(random.Between(-1000, 900)) * .01f;
      input.push_back(i == 33 ? NAN : x);
      if (i == 33) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    for (const KernelTable& kernels : RunnableKernels()) {
      const FloatRange range = kernels.conv_i8->range(input.data(), count);
      EXPECT_EQ(range.low, low);
      EXPECT_EQ(range.high, high);
    }
  }
}

TEST(QuantizeTest, EveryKernelRoundsToSteps) {
  TestRandom random(4);
  std::vector<float> input;
  for (int i = 0; i < 1000; ++i) {
    input.push_back(static_cast<float>(random.Between(-999, 2000)) * .0123f);
  }
  for (const KernelTable& kernels : RunnableKernels()) {
    const ByteSteps steps = StepsOf(kernels.conv_i8->range(input.data(), 1000));
    std::vector<int8_t> out(1000, kUntouchedByte);
    kernels.conv_i8->quantize(input.data(), 997, steps, out.data());
    for (size_t i = 0; i < 1000; ++i) {
      const float x = input[i] / steps.scale;
      ASSERT_EQ(out[i], i < 997 ? ToByte(static_cast<double>(x), steps.zero)
                                : kUntouchedByte)
          << i;
    }
  }
}

TEST(QuantizeTest, StepsAreThoseOfDynamicQuantizeLinear) {
  EXPECT_EQ(StepsOf({-55.f, 200.f}).scale, 1.f);
  EXPECT_EQ(StepsOf({-55.f, 200.f}).zero, 55 - 128);
  EXPECT_EQ(StepsOf({-5.f, 0.f}).zero, 127);
  EXPECT_EQ(StepsOf({0.f, 5.f}).zero, -128);
  EXPECT_GT(StepsOf({0.f, 0.f}).scale, 0.f);
  EXPECT_EQ(StepsOf({0.f, 0.f}).zero, -128);
  EXPECT_EQ(StepsOf({-INFINITY, INFINITY}).zero, -128);
}

TEST(DequantizeTest, EveryKernelComputesTheDefinition) {
  TestRandom random(5);
  const std::vector<int8_t> input = random.Elements<int8_t>(100);
  for (const KernelTable& kernels : RunnableKernels()) {
    std::vector<float> out(101, 7.f);
    kernels.conv_i8->dequantize(input.data(), 100, {.3f, -9}, out.data());
    for (size_t i = 0; i < 100; ++i) {
      ASSERT_EQ(out[i], static_cast<float>(input[i] + 9) * .3f) << i;
    }
    EXPECT_EQ(out[100], 7.f);
  }
}

TEST(MaxPoolI8Test, EveryKernelComputesTheDefinition) {
  TestRandom random(6);
  for (int round = 0; round < 60; ++round) {
    ConvShape s = RandomConvShape(true, &random);
    s.pad_top = random.Between(0, 5);
    s.pad_left = random.Between(0, 5);
    const std::vector<int8_t> input =
        random.Elements<int8_t>(s.batch * s.in_h * s.in_w * s.in_c);
    const int64_t pixels = s.pixel_count();
    const int64_t begin = random.Between(0, pixels - 1);
    const int64_t end = random.Between(begin, pixels);
    for (const KernelTable& kernels : RunnableKernels()) {
      std::vector<int8_t> out(static_cast<size_t>(pixels * s.out_c),
                              kUntouchedByte);
      kernels.conv_i8->max_pool(s, input.data(), begin, end, out.data());
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int64_t c = 0; c < s.in_c; ++c) {
          int8_t most = -128;
          for (int64_t tap = 0; tap < s.kernel_h * s.kernel_w; ++tap) {
            const int64_t y = pixel / s.out_w % s.out_h * s.stride_h -
                              s.pad_top + tap / s.kernel_w * s.dilation_h;
            const int64_t x = pixel % s.out_w * s.stride_w - s.pad_left +
                              tap % s.kernel_w * s.dilation_w;
            if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w) continue;
            const int64_t image = pixel / s.out_w / s.out_h;
            const int64_t at = ((image * s.in_h + y) * s.in_w + x) * s.in_c + c;
            most = std::max(most, input[static_cast<size_t>(at)]);
          }
          ASSERT_EQ(out[static_cast<size_t>(pixel * s.out_c + c)],
                    pixel >= begin && pixel < end ? most : kUntouchedByte)
              << "round " << round << " pixel " << pixel << " channel " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace takt::kernels
