// Every convolution and pool against plain loops, over random shapes. Operands
// are small whole numbers, so that sums are exact in any order.
#include "kernels/conv2d.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

constexpr float kUntouched = -12345.f;

std::vector<float> SmallNumbers(int64_t count, TestRandom& random) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = static_cast<float>(random.Between(-9, 9));
  return numbers;
}

// The size of a result, with `pad` before and after.
int64_t OutSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                int64_t pad) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

ConvShape RandomShape(TestRandom& random, bool is_depthwise) {
  ConvShape s{};
  s.batch = random.Between(1, 2);
  s.kernel_h = random.Between(1, 4);
  s.kernel_w = random.Between(0, 2) == 0 ? random.Between(1, 4) : s.kernel_h;
  if (is_depthwise) s.kernel_w = random.Between(1, 12);
  s.stride_h = random.Between(1, 3);
  s.stride_w = random.Between(1, 3);
  s.dilation_h = random.Between(0, 3) == 0 ? 2 : 1;
  s.dilation_w = random.Between(0, 3) == 0 ? 2 : 1;
  s.pad_top = random.Between(0, 3);
  s.pad_left = random.Between(0, 3);
  s.in_h = random.Between(1, 9) + (s.kernel_h - 1) * s.dilation_h;
  s.in_w = random.Between(1, 20) + (s.kernel_w - 1) * s.dilation_w;
  s.out_h = OutSize(s.in_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top);
  s.out_w = OutSize(s.in_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left);
  s.groups = random.Between(0, 2) == 0 ? random.Between(2, 3) : 1;
  s.in_c = s.groups * random.Between(1, 20);
  s.out_c = s.groups * random.Between(1, 50);
  if (is_depthwise) s.in_c = s.out_c = s.groups = random.Between(1, 70);
  return s;
}

struct ConvProblem {
  ConvShape s;
  std::vector<float> input, weights, bias, residual;
  float low, high;

  ConvProblem(const ConvShape& shape, TestRandom& random)
      : s(shape),
        input(SmallNumbers(s.batch * s.in_h * s.in_w * s.in_c, random)),
        weights(SmallNumbers(
            s.out_c * s.kernel_h * s.kernel_w * (s.in_c / s.groups), random)),
        bias(SmallNumbers(s.out_c, random)),
        residual(SmallNumbers(s.pixel_count() * s.out_c, random)) {
    const bool is_clamped = random.Between(0, 1) != 0;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    low = is_clamped ? -20.f : -kInfinity;
    high = is_clamped ? 60.f : kInfinity;
  }

  float WeightAt(int64_t out, int64_t tap, int64_t in) const {
    const int64_t taps = s.kernel_h * s.kernel_w;
    return weights[(out * taps + tap) * (s.in_c / s.groups) + in];
  }
  // Calls f(tap, input pixel) for each tap within the image.
  template <typename F>
  void ForEachTap(int64_t pixel, F f) const {
    const int64_t image = pixel / (s.out_h * s.out_w);
    const int64_t y = pixel / s.out_w % s.out_h * s.stride_h - s.pad_top;
    const int64_t x = pixel % s.out_w * s.stride_w - s.pad_left;
    for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
        const int64_t row = y + ky * s.dilation_h;
        const int64_t column = x + kx * s.dilation_w;
        if (row < 0 || row >= s.in_h || column < 0 || column >= s.in_w)
          continue;
        f(ky * s.kernel_w + kx, (image * s.in_h + row) * s.in_w + column);
      }
    }
  }
  std::vector<float> Expected(bool has_residual) const {
    std::vector<float> out;
    const int64_t ins = s.in_c / s.groups;
    for (int64_t pixel = 0; pixel < s.pixel_count(); ++pixel) {
      for (int64_t o = 0; o < s.out_c; ++o) {
        const int64_t group = o / (s.out_c / s.groups);
        float sum = bias[o];
        ForEachTap(pixel, [&](int64_t tap, int64_t from) {
          for (int64_t i = 0; i < ins; ++i) {
            sum += input[from * s.in_c + group * ins + i] * WeightAt(o, tap, i);
          }
        });
        if (has_residual) sum += residual[out.size()];
        out.push_back(std::clamp(sum, low, high));
      }
    }
    return out;
  }
  // Weights and bias in blocks.
  std::vector<float> PackedWeights(bool is_depthwise) const {
    const int64_t groups = is_depthwise ? 1 : s.groups;
    const int64_t outs = s.out_c / groups;
    const int64_t ins = s.in_c / s.groups;
    const int64_t taps = s.kernel_h * s.kernel_w;
    const int64_t blocks = (outs + kConvBlock - 1) / kConvBlock;
    std::vector<float> packed(groups * blocks * taps * ins * kConvBlock);
    for (int64_t o = 0; o < s.out_c; ++o) {
      const int64_t block = o / outs * blocks + o % outs / kConvBlock;
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t i = 0; i < ins; ++i) {
          packed[((block * taps + tap) * ins + i) * kConvBlock +
                 o % outs % kConvBlock] = WeightAt(o, tap, i);
        }
      }
    }
    return packed;
  }
  // The same in bfloat16: pairs of channels in place of one. Small whole
  // numbers lose nothing.
  std::vector<float> PackedPairs() const {
    const std::vector<float> packed = PackedWeights(false);
    const int64_t ins =
        s.in_c / s.groups * (s.HasJoinedRows() ? s.kernel_w : 1);
    std::vector<float> pairs;
    for (size_t first = 0; first < packed.size();
         first += static_cast<size_t>(ins) * kConvBlock) {
      for (int64_t i = 0; i < ins; i += 2) {
        for (int64_t lane = 0; lane < kConvBlock; ++lane) {
          const float* const at = packed.data() + first +
                                  static_cast<size_t>(i * kConvBlock + lane);
          uint32_t first_bits, second_bits = 0;
          std::memcpy(&first_bits, at, sizeof(first_bits));
          if (i + 1 < ins)
            std::memcpy(&second_bits, at + kConvBlock, sizeof(second_bits));
          const uint32_t both = first_bits >> 16 | (second_bits & 0xffff0000u);
          float pair;
          std::memcpy(&pair, &both, sizeof(pair));
          pairs.push_back(pair);
        }
      }
    }
    return pairs;
  }
  // [blocks][positions][channels][kConvBlock].
  std::vector<float> TransformedWeights() const {
    constexpr double kMatrix[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4},
                                      {1, 2, 4}, {1, -2, 4},   {0, 0, 24}};
    std::vector<float> packed(s.block_count() * kWinogradPositions * s.in_c *
                              kConvBlock);
    for (int64_t o = 0; o < s.out_c; ++o) {
      for (int64_t i = 0; i < s.in_c; ++i) {
        for (int64_t position = 0; position < kWinogradPositions; ++position) {
          double sum = 0;
          for (int64_t tap = 0; tap < 9; ++tap) {
            sum += kMatrix[position / 6][tap / 3] *
                   kMatrix[position % 6][tap % 3] *
                   static_cast<double>(WeightAt(o, tap, i));
          }
          const int64_t row =
              (o / kConvBlock * kWinogradPositions + position) * s.in_c + i;
          packed[row * kConvBlock + o % kConvBlock] =
              static_cast<float>(sum / (24 * 24));
        }
      }
    }
    return packed;
  }
  std::vector<float> PackedBias(bool is_depthwise) const {
    const int64_t groups = is_depthwise ? 1 : s.groups;
    const int64_t outs = s.out_c / groups;
    const int64_t blocks = (outs + kConvBlock - 1) / kConvBlock;
    std::vector<float> packed(groups * blocks * kConvBlock);
    for (int64_t o = 0; o < s.out_c; ++o) {
      packed[o / outs * blocks * kConvBlock + o % outs] = bias[o];
    }
    return packed;
  }
};

// Calls f(tile) for tiles that cover everything once.
template <typename F>
void ForEachTile(int64_t pixels, int64_t blocks, TestRandom& random, F f) {
  const int64_t pixel_step = random.Between(1, pixels);
  const int64_t block_step = random.Between(1, blocks);
  for (int64_t p = 0; p < pixels; p += pixel_step) {
    for (int64_t b = 0; b < blocks; b += block_step) {
      f(ConvTile{p, std::min(p + pixel_step, pixels), b,
                 std::min(b + block_step, blocks)});
    }
  }
}

// The result of a convolution: a tensor, or some channels of a wider one.
class Result {
 public:
  Result(const ConvShape& s, bool may_be_wider, TestRandom& random)
      : channels_(s.out_c), width_(s.out_c) {
    if (may_be_wider) {
      first_ = random.Between(0, 20);
      width_ += first_ + random.Between(0, 20);
    }
    numbers_.assign(s.pixel_count() * width_, kUntouched);
  }

  float* data() { return numbers_.data() + first_; }
  int64_t stride() const { return width_; }
  // The channels of the result. The others must be untouched.
  std::vector<float> Written() const {
    std::vector<float> written;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const int64_t channel = static_cast<int64_t>(i) % width_ - first_;
      if (channel >= 0 && channel < channels_) {
        written.push_back(numbers_[i]);
      } else {
        EXPECT_EQ(numbers_[i], kUntouched) << "beside the result, at " << i;
      }
    }
    return written;
  }

 private:
  const int64_t channels_;
  int64_t first_ = 0;
  int64_t width_;
  std::vector<float> numbers_;
};

enum class Kind { kPlain, kDepthwise, kBf16 };

void CheckConvolution(const KernelTable& table, Kind kind, TestRandom& random) {
  const bool is_depthwise = kind == Kind::kDepthwise;
  const ConvProblem problem(RandomShape(random, is_depthwise), random);
  const ConvShape& s = problem.s;
  ASSERT_EQ(CheckConvShape(s), nullptr);
  const bool has_residual = random.Between(0, 1) != 0;
  const std::vector<float> weights = kind == Kind::kBf16
                                         ? problem.PackedPairs()
                                         : problem.PackedWeights(is_depthwise);
  const std::vector<float> bias = problem.PackedBias(is_depthwise);
  Result out(s, !has_residual, random);
  const ConvOperands operands = {
      problem.input.data(), weights.data(),
      bias.data(),          has_residual ? problem.residual.data() : nullptr,
      out.data(),           problem.low,
      problem.high,         Activation::kNone,
      out.stride()};
  const ConvKernel kernel = kind == Kind::kBf16 ? table.conv_bf16->conv2d
                            : is_depthwise      ? table.f32->depthwise
                                                : table.f32->conv2d;
  const int64_t blocks =
      is_depthwise ? (s.out_c + kConvBlock - 1) / kConvBlock : s.block_count();
  ForEachTile(s.pixel_count(), blocks, random,
              [&](const ConvTile& tile) { kernel(s, operands, tile); });
  ASSERT_EQ(out.Written(), problem.Expected(has_residual))
      << "in " << s.in_h << "x" << s.in_w << "x" << s.in_c << " out " << s.out_h
      << "x" << s.out_w << "x" << s.out_c << " kernel " << s.kernel_h << "x"
      << s.kernel_w << " groups " << s.groups;
}

TEST(Conv2dTest, EqualsPlainLoops) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(1);
    for (int i = 0; i < 80; ++i) CheckConvolution(table, Kind::kPlain, random);
  }
}

TEST(Conv2dTest, DepthwiseEqualsPlainLoops) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(2);
    for (int i = 0; i < 400; ++i) {
      CheckConvolution(table, Kind::kDepthwise, random);
    }
  }
}

TEST(Conv2dTest, OfBfloat16EqualsPlainLoops) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(4);
    for (int i = 0; i < 80; ++i) CheckConvolution(table, Kind::kBf16, random);
  }
}

TEST(Conv2dTest, OfBfloat16RoundsInputsHalfToEven) {
  const ConvShape s = {1, 1, 3, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1};
  const float input[] = {1.f + 0x1p-8f, 1.f + 0x3p-8f, -1.f - 0x5p-9f};
  float weights[kConvBlock] = {};
  const uint32_t one = 0x3f80;  // In the lower half; none above it.
  std::memcpy(weights, &one, sizeof(one));
  const float bias[kConvBlock] = {};
  for (const KernelTable& table : RunnableKernels()) {
    float out[3] = {};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    table.conv_bf16->conv2d(
        s, {input, weights, bias, nullptr, out, -kInfinity, kInfinity},
        {0, 3, 0, 1});
    EXPECT_EQ(out[0], 1.f);
    EXPECT_EQ(out[1], 1.f + 0x1p-6f);
    EXPECT_EQ(out[2], -1.f - 0x1p-7f);
  }
}

TEST(Conv2dTest, FirstLayersAndManyChannels) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(3);
    for (const ConvShape& s :
         {ConvShape{1, 20, 20, 3, 10, 10, 64, 7, 7, 2, 2, 1, 1, 3, 3, 1},
          // Several groups of pixels in each call of a micro kernel.
          ConvShape{1, 7, 203, 3, 4, 102, 48, 3, 3, 2, 2, 1, 1, 1, 1, 1},
          ConvShape{2, 3, 90, 20, 3, 90, 36, 3, 3, 1, 1, 1, 1, 1, 1, 2},
          ConvShape{1, 9, 45, 17, 9, 45, 150, 1, 1, 1, 1, 1, 1, 0, 0, 1},
          ConvShape{1, 7, 7, 600, 7, 7, 96, 3, 3, 1, 1, 1, 1, 1, 1, 1},
          ConvShape{1, 1, 50, 700, 1, 50, 33, 1, 1, 1, 1, 1, 1, 0, 0, 1},
          // More groups than have their weights in the cache at once.
          ConvShape{1, 5, 6, 640, 5, 6, 640, 3, 3, 1, 1, 1, 1, 1, 1, 40},
          // More channels than there are zeros in place of.
          ConvShape{1, 2, 2, 24000, 2, 2, 6, 3, 3, 1, 1, 1, 1, 1, 1, 3}}) {
      const ConvProblem problem(s, random);
      const std::vector<float> weights = problem.PackedWeights(false);
      const std::vector<float> bias = problem.PackedBias(false);
      std::vector<float> out(problem.residual.size(), kUntouched);
      table.f32->conv2d(s,
                        {problem.input.data(), weights.data(), bias.data(),
                         nullptr, out.data(), problem.low, problem.high},
                        {0, s.pixel_count(), 0, s.block_count()});
      EXPECT_EQ(out, problem.Expected(false));
    }
  }
}

constexpr float kSlope = .1f;

double Expected(Activation activation, double x) {
  const double hard = std::clamp(x / 6 + 0.5, 0.0, 1.0);
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kHardSwish:
      return x * hard;
    case Activation::kHardSigmoid:
      return hard;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kGelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kLeakyRelu:
      return x < 0 ? x * kSlope : x;
    case Activation::kGeluTanh:
      return x / 2 *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) *
                            (x + 0.044715 * x * x * x)));
  }
  return 0;
}

// The three kernels of conv2d.h, with weights in the order of winograd().
void RunWinogradParts(const KernelTable& table, const ConvShape& s,
                      const ConvOperands& operands, TestRandom& random) {
  const int64_t squares = s.square_count(), blocks = s.block_count();
  const ConvShape product = {1,
                             squares,
                             1,
                             kWinogradPositions * s.in_c,
                             squares,
                             1,
                             kWinogradPositions * s.out_c,
                             1,
                             1,
                             1,
                             1,
                             1,
                             1,
                             0,
                             0,
                             kWinogradPositions};
  const int64_t block_size = s.in_c * kConvBlock;
  std::vector<float> weights(kWinogradPositions * blocks * block_size);
  for (int64_t i = 0; i < kWinogradPositions * blocks; ++i) {
    std::copy_n(operands.weights + i * block_size, block_size,
                weights.begin() +
                    (i % kWinogradPositions * blocks + i / kWinogradPositions) *
                        block_size);
  }
  const std::vector<float> no_bias(product.out_c);
  std::vector<float> inputs(squares * product.in_c, kUntouched);
  std::vector<float> sums(squares * product.out_c, kUntouched);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ConvOperands transformed = {};
  transformed.input = operands.input;
  transformed.output = inputs.data();
  ForEachTile(squares, 1, random, [&](const ConvTile& tile) {
    table.f32->winograd_inputs(s, transformed, tile);
  });
  const ConvOperands products = {inputs.data(), weights.data(), no_bias.data(),
                                 nullptr,       sums.data(),    -kInfinity,
                                 kInfinity};
  ForEachTile(squares, product.block_count(), random,
              [&](const ConvTile& tile) {
                table.f32->conv2d(product, products, tile);
              });
  ConvOperands last = operands;
  last.input = sums.data();
  last.weights = nullptr;
  ForEachTile(squares, 1, random, [&](const ConvTile& tile) {
    table.f32->winograd_sums(s, last, tile);
  });
}

void CheckWinograd(const KernelTable& table, const ConvShape& s,
                   TestRandom& random, bool is_in_parts = false) {
  ConvProblem problem(s, random);
  const bool has_residual = random.Between(0, 1) != 0;
  const bool is_activated = random.Between(0, 1) != 0;
  const Activation activation = !is_activated ? Activation::kNone
                                : s.in_c < 16 ? Activation::kHardSigmoid
                                              : Activation::kLeakyRelu;
  if (is_activated) {
    problem.low = -std::numeric_limits<float>::infinity();
    problem.high = -problem.low;
  }
  const std::vector<float> weights = problem.TransformedWeights();
  const std::vector<float> bias = problem.PackedBias(false);
  Result result(s, !has_residual, random);
  const ConvOperands operands = {
      problem.input.data(), weights.data(),
      bias.data(),          has_residual ? problem.residual.data() : nullptr,
      result.data(),        problem.low,
      problem.high,         activation,
      result.stride(),      kSlope};
  if (is_in_parts) {
    RunWinogradParts(table, s, operands, random);
  } else {
    std::vector<float> scratch(kWinogradScratchBytes / sizeof(float));
    ForEachTile(s.square_count(), s.block_count(), random,
                [&](const ConvTile& tile) {
                  table.f32->winograd(s, operands, tile, scratch.data());
                });
  }
  const std::vector<float> out = result.Written();
  std::vector<float> expected = problem.Expected(has_residual);
  ASSERT_EQ(out.size(), expected.size());
  for (float& x : expected) x = static_cast<float>(Expected(activation, x));
  // The greatest sum of products is 81 for each weight.
  const double tolerance = 1e-6 * 81 * 9 * static_cast<double>(s.in_c);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_NEAR(out[i], expected[i], tolerance)
        << "element " << i << " in " << s.in_h << "x" << s.in_w << "x" << s.in_c
        << " out " << s.out_h << "x" << s.out_w << "x" << s.out_c;
  }
}

TEST(Conv2dTest, WinogradEqualsPlainLoops) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(6);
    for (int i = 0; i < 40; ++i) {
      ConvShape s = RandomShape(random, false);
      s.kernel_h = s.kernel_w = 3;
      s.stride_h = s.stride_w = s.dilation_h = s.dilation_w = s.groups = 1;
      s.in_h += 3;
      s.in_w += 3;
      s.out_h = OutSize(s.in_h, 3, 1, 1, s.pad_top);
      s.out_w = OutSize(s.in_w, 3, 1, 1, s.pad_left);
      ASSERT_NO_FATAL_FAILURE(CheckWinograd(table, s, random));
    }
    for (int i = 0; i < 20; ++i) {
      ConvShape s = {};
      s.batch = random.Between(1, 2);
      s.in_h = s.out_h = random.Between(1, 15);
      s.in_w = s.out_w = random.Between(1, 15);
      s.in_c = random.Between(1, 70);
      s.out_c = kConvBlock * random.Between(1, 6);
      s.kernel_h = s.kernel_w = 3;
      s.stride_h = s.stride_w = s.dilation_h = s.dilation_w = s.groups = 1;
      s.pad_top = s.pad_left = 1;
      ASSERT_NO_FATAL_FAILURE(CheckWinograd(table, s, random, true));
    }
    // Squares in several steps, and as many channels as there may be.
    for (const ConvShape& s :
         {ConvShape{1, 40, 41, 33, 40, 41, 80, 3, 3, 1, 1, 1, 1, 1, 1, 1},
          ConvShape{1, 6, 7, kWinogradChannelsMax, 6, 7, 5, 3, 3, 1, 1, 1, 1, 1,
                    1, 1}}) {
      ASSERT_NO_FATAL_FAILURE(CheckWinograd(table, s, random));
    }
  }
}

// Images of more rounded numbers than a tile keeps: parts of some rows, parts
// of one row, and windows of which a few pixels are too many.
TEST(Conv2dTest, OfBfloat16InParts) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(5);
    for (const ConvShape& s :
         {ConvShape{2, 30, 40, 64, 30, 40, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1},
          ConvShape{1, 10, 10, 1100, 10, 10, 20, 1, 1, 1, 1, 1, 1, 0, 0, 1},
          ConvShape{1, 3, 30, 700, 1, 28, 4, 3, 3, 1, 1, 1, 1, 0, 0, 1},
          ConvShape{1, 3, 18, 2048, 1, 16, 3, 3, 3, 1, 1, 1, 1, 0, 0, 1},
          ConvShape{1, 4, 40, 130, 2, 20, 40, 1, 1, 2, 2, 1, 1, 0, 0, 1},
          // Runs of 17 and 19 pairs of channels.
          ConvShape{1, 6, 18, 68, 6, 18, 70, 3, 3, 1, 1, 1, 1, 1, 1, 2},
          ConvShape{1, 1, 50, 37, 1, 50, 33, 1, 1, 1, 1, 1, 1, 0, 0, 1}}) {
      const ConvProblem problem(s, random);
      const std::vector<float> weights = problem.PackedPairs();
      const std::vector<float> bias = problem.PackedBias(false);
      std::vector<float> out(problem.residual.size(), kUntouched);
      const ConvOperands operands = {
          problem.input.data(), weights.data(), bias.data(), nullptr,
          out.data(),           problem.low,    problem.high};
      const int64_t middle = s.pixel_count() / 3;
      table.conv_bf16->conv2d(s, operands, {0, middle, 0, s.block_count()});
      table.conv_bf16->conv2d(s, operands,
                              {middle, s.pixel_count(), 0, s.block_count()});
      EXPECT_EQ(out, problem.Expected(false));
    }
  }
}

// The same by the standard library.
// One channel in, the identity as weights: the result is the activation.
TEST(Conv2dTest, ActivationsAreExactToSomeUnits) {
  constexpr int64_t kPixels = 4001;
  const ConvShape shape{1, 1, kPixels, 1, 1, kPixels, 1, 1,
                        1, 1, 1,       1, 1, 0,       0, 1};
  std::vector<float> input;
  for (int64_t i = 0; i < kPixels; ++i) {
    input.push_back(static_cast<float>(i - kPixels / 2) * 0.01f);
  }
  input[0] = -1000.f;
  input[1] = 1000.f;
  std::vector<float> weights(kConvBlock);
  weights[0] = 1.f;
  const std::vector<float> bias(kConvBlock);
  for (const KernelTable& table : RunnableKernels()) {
    for (int number = 0; number < kActivationCount; ++number) {
      for (const bool is_depthwise : {false, true}) {
        std::vector<float> out(kPixels, kUntouched);
        const auto activation = static_cast<Activation>(number);
        const ConvKernel kernel =
            is_depthwise ? table.f32->depthwise : table.f32->conv2d;
        kernel(shape,
               {input.data(), weights.data(), bias.data(), nullptr, out.data(),
                -2000.f, 900.f, activation, 0, kSlope},
               {0, kPixels, 0, 1});
        for (int64_t i = 0; i < kPixels; ++i) {
          const double expected =
              std::min(Expected(activation, input[i]), 900.0);
          const double error = activation == Activation::kGelu ? 5e-7 : 3e-7;
          ASSERT_NEAR(out[i], expected,
                      error * std::max(1., std::abs(expected)))
              << "activation " << number << " of " << input[i];
        }
      }
    }
  }
}

// Pixels of few channels lie one behind the other, or in a wider tensor.
TEST(Conv2dTest, ActivationsOfFewChannelsLeaveTheOthersAlone) {
  constexpr int64_t kPixels = 37;
  constexpr int64_t kChannels = 3;
  const ConvShape shape{1, 1, kPixels, 1, 1, kPixels, kChannels, 1,
                        1, 1, 1,       1, 1, 0,       0,         1};
  std::vector<float> input;
  for (int64_t i = 0; i < kPixels; ++i) {
    input.push_back(static_cast<float>(i - kPixels / 2) * 0.1f);
  }
  std::vector<float> weights(kConvBlock);
  for (int64_t c = 0; c < kChannels; ++c) {
    weights[c] = static_cast<float>(c + 1);
  }
  const std::vector<float> bias(kConvBlock);
  for (const KernelTable& table : RunnableKernels()) {
    for (const int64_t stride : {kChannels, kChannels + 2}) {
      std::vector<float> out(kPixels * stride, kUntouched);
      table.f32->conv2d(
          shape,
          {input.data(), weights.data(), bias.data(), nullptr, out.data(),
           -2000.f, 900.f, Activation::kSilu, stride, kSlope},
          {0, kPixels, 0, 1});
      for (int64_t i = 0; i < kPixels * stride; ++i) {
        const int64_t c = i % stride;
        if (c >= kChannels) {
          ASSERT_EQ(out[i], kUntouched);
          continue;
        }
        const float x = input[i / stride] * weights[c];
        ASSERT_NEAR(out[i], Expected(Activation::kSilu, x), 1e-6) << i;
      }
    }
  }
}

void CheckPool(const KernelTable& table, PoolKind kind, bool count_padding,
               TestRandom& random) {
  const ConvProblem problem(RandomShape(random, true), random);
  const ConvShape& s = problem.s;
  std::vector<float> expected;
  for (int64_t pixel = 0; pixel < s.pixel_count(); ++pixel) {
    for (int64_t c = 0; c < s.in_c; ++c) {
      float sum = 0, most = -std::numeric_limits<float>::infinity();
      int64_t count = 0;
      problem.ForEachTap(pixel, [&](int64_t, int64_t from) {
        sum += problem.input[from * s.in_c + c];
        most = std::max(most, problem.input[from * s.in_c + c]);
        ++count;
      });
      const int64_t counted = count_padding ? s.kernel_h * s.kernel_w : count;
      const float mean =
          counted > 0 ? sum * (1.f / static_cast<float>(counted)) : 0.f;
      expected.push_back(kind == PoolKind::kMean ? mean
                         : count > 0             ? most
                                                 : 0.f);
    }
  }
  std::vector<float> out(expected.size(), kUntouched);
  const PoolKernel kernel =
      kind == PoolKind::kMean ? table.f32->mean_pool : table.f32->max_pool;
  ForEachTile(
      s.pixel_count(), (s.in_c + kConvBlock - 1) / kConvBlock, random,
      [&](const ConvTile& tile) {
        kernel(s, {problem.input.data(), out.data(), count_padding}, tile);
      });
  EXPECT_EQ(out, expected);
}

TEST(Conv2dTest, PoolsEqualPlainLoops) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(4);
    for (int i = 0; i < 100; ++i) {
      CheckPool(table, PoolKind::kMax, false, random);
      CheckPool(table, PoolKind::kMean, i % 2 == 0, random);
    }
  }
}

// A minute of sound has some 1e6 samples, and the squares of Winograd's method
// have 36 times the channels.
TEST(Conv2dTest, TakesLongRowsAndManyChannels) {
  EXPECT_EQ(CheckConvShape(
                {1, 1, 1000000, 1, 1, 199999, 8, 1, 10, 1, 5, 1, 1, 0, 0, 1}),
            nullptr);
  EXPECT_EQ(CheckConvShape({1, 9, 1, 36 * 2048, 9, 1, 36 * 512, 1, 1, 1, 1, 1,
                            1, 0, 0, 36}),
            nullptr);
}

TEST(Conv2dTest, RefusesShapesThatNoTensorHas) {
  const ConvShape good{1, 8, 8, 6, 8, 8, 6, 3, 3, 1, 1, 1, 1, 1, 1, 2};
  EXPECT_EQ(CheckConvShape(good), nullptr);
  ConvShape s = good;
  s.groups = 4;
  EXPECT_STREQ(CheckConvShape(s), "the groups do not divide the channels");
  s = good;
  s.stride_w = 0;
  EXPECT_STREQ(CheckConvShape(s),
               "a stride or dilation is not from 1 to 65536");
  s = good;
  s.out_h = 0;
  EXPECT_STREQ(CheckConvShape(s), "a size is not from 1 to 268435456");
  s = good;
  s.kernel_h = 1 << 15;
  s.kernel_w = 1 << 14;
  EXPECT_STREQ(CheckConvShape(s), "a window is too large");
  s = good;
  s.batch = s.out_w = 1 << 28;
  s.out_h = s.in_h = s.in_w = 1;
  EXPECT_STREQ(CheckConvShape(s), "a tensor is too large");
  s = good;
  s.pad_left = -1;
  EXPECT_STREQ(CheckConvShape(s), "a padding is not from 0 to 65536");
  s = good;
  s.batch = s.in_h = s.in_w = 1 << 16;
  EXPECT_STREQ(CheckConvShape(s), "a tensor is too large");
}

}  // namespace
}  // namespace takt::kernels
