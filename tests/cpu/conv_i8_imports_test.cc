// Convolutions and maps of bytes, called as compiled kernels call them. The
// numbers are checked in tests/kernels; here it is which parameters are
// refused.
#include "cpu/conv_i8_imports.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

// As a module's code lays them out.
using Buffer = ImportBuffer;
struct ConvI8Parameters {
  Buffer input, weights, bias, scale, sums, output;
  int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
  int32_t stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups;
  int32_t pixel_begin, pixel_count, block_begin, block_count;
  int32_t input_zero, output_zero, no_zero, low, high;
  float no_scale;
};
static_assert(sizeof(ConvI8Parameters) == 248);

// A product of 3 pixels of 4 channels, with 2 channels out: each weight is 1.
class ConvI8ImportTest : public testing::TestWithParam<bool> {
 protected:
  ConvI8ImportTest() : import_(*Find()) {
    std::memset(&p_, 0, sizeof(p_));
    p_.batch = p_.in_h = p_.out_h = 1;
    p_.in_w = p_.out_w = 3;
    p_.in_c = is_depthwise() ? 2 : 4;
    p_.out_c = 2;
    p_.kernel_h = p_.kernel_w = p_.stride_h = p_.stride_w = 1;
    p_.dilation_h = p_.dilation_w = 1;
    p_.groups = is_depthwise() ? 2 : 1;
    p_.pixel_count = 1000;  // What exceeds the image is cut off.
    p_.block_count = 1000;
    p_.low = -128;
    p_.high = 127;
    p_.input = {input_, 1, 3 * p_.in_c};
    p_.weights = {weights_, 0, is_depthwise() ? 16 : 64};
    p_.bias = {bias_, 0, 2};
    p_.scale = {scale_, 0, 2};
    p_.sums = {sums_, 0, 2};
    p_.output = {output_, 2, 6};
  }
  bool is_depthwise() const { return GetParam(); }
  static absl::optional<ImportFunction> Find() {
    return FindKernelImport(
        GetParam() ? "takt_depthwise2d_i8" : "takt_conv2d_i8",
        kernels::SelectKernels({}), nullptr);
  }
  int Call(const ConvI8Parameters& parameters) {
    std::memset(output_, 0, sizeof(output_));
    ConvI8Parameters copy = parameters;
    return import_.function(&copy, import_.context, nullptr);
  }

  const ImportFunction import_;
  ConvI8Parameters p_;
  // Element 0 lies before the buffer.
  const int8_t input_[13] = {99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<int8_t> ones_ = std::vector<int8_t>(64, 1);
  const int8_t* const weights_ = ones_.data();
  const int32_t bias_[2] = {10, 20};
  const float scale_[2] = {1, 2};
  const int32_t sums_[2] = {4, 4};  // Of the weights of a product.
  int8_t output_[10];
};

TEST_P(ConvI8ImportTest, ComputesTheTileThatIsInTheImage) {
  ASSERT_EQ(Call(p_), 0);
  const std::vector<int8_t> all(output_, output_ + 10);
  const std::vector<int8_t> expected =
      is_depthwise() ? std::vector<int8_t>{0, 0, 11, 44, 13, 48, 15, 52, 0, 0}
                     : std::vector<int8_t>{0, 0, 20, 60, 36, 92, 52, 124, 0, 0};
  EXPECT_EQ(all, expected);
  p_.sums.size = 0;  // They are found.
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(std::vector<int8_t>(output_, output_ + 10), expected);
  p_.pixel_begin = 1;
  p_.pixel_count = 1;
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[3], 0);
  EXPECT_EQ(output_[4], expected[4]);
  EXPECT_EQ(output_[5], expected[5]);
  EXPECT_EQ(output_[6], 0);
}

TEST_P(ConvI8ImportTest, RefusesWhatDoesNotFit) {
  const std::vector<std::function<void(ConvI8Parameters&)>> faults = {
      [](ConvI8Parameters& p) { --p.input.size; },
      [](ConvI8Parameters& p) { --p.weights.size; },
      [](ConvI8Parameters& p) { --p.bias.size; },
      [](ConvI8Parameters& p) { --p.scale.size; },
      [](ConvI8Parameters& p) { p.sums.size = 1; },
      [](ConvI8Parameters& p) { p.sums.size = -1; },
      [](ConvI8Parameters& p) { --p.output.size; },
      [](ConvI8Parameters& p) { p.in_w = 4; },
      [](ConvI8Parameters& p) { p.in_h = INT32_MAX; },
      [](ConvI8Parameters& p) { p.kernel_h = 0; },
      [](ConvI8Parameters& p) { p.kernel_h = 129; },
      [](ConvI8Parameters& p) { p.groups = 0; },
      [](ConvI8Parameters& p) { p.stride_w = -1; },
      [](ConvI8Parameters& p) { p.pixel_begin = -1; },
      [](ConvI8Parameters& p) { p.pixel_begin = 4; },
      [](ConvI8Parameters& p) { p.block_count = -1; },
      [](ConvI8Parameters& p) { p.block_begin = 2; },
      [](ConvI8Parameters& p) { p.input_zero = 128; },
      [](ConvI8Parameters& p) { p.low = -129; },
      [](ConvI8Parameters& p) { p.low = 5, p.high = 4; },
  };
  WithEachFault(p_, faults, [&](const ConvI8Parameters& parameters) {
    EXPECT_NE(Call(parameters), 0);
    for (const int8_t byte : output_) EXPECT_EQ(byte, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConvI8ImportTest, testing::Bool());

struct ConvI8FloatParameters {
  Buffer input, weights, sums, scale, bias, ranges, output;
  int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
  int32_t stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups;
  int32_t tile_blocks, input_zero, block_tile, pixel_begin, pixel_count;
  float input_scale, low, high;
};
static_assert(sizeof(ConvI8FloatParameters) == 264);

// A product of 2 pixels of 3 channels, with 17 channels out: weights are 1.
TEST(ConvI8F32ImportTest, ComputesItsTileAndRefusesWhatDoesNotFit) {
  const ImportFunction import = *FindKernelImport(
      "takt_conv2d_i8_f32", kernels::SelectKernels({}), nullptr);
  const int8_t input[6] = {1, 2, 3, 4, 5, 6};
  const std::vector<int8_t> weights(2 * 16 * 4, 1);
  const std::vector<int32_t> sums(17, 3);
  const std::vector<float> scale(17, .5f), bias(17, 100.f);
  // Of two tiles; all values lie in 255 steps of 4, and 0 is the first of them.
  const float ranges[4] = {0.f, 7.f, 0.f, 1020.f};
  std::vector<float> output(34);
  ConvI8FloatParameters p;
  std::memset(&p, 0, sizeof(p));
  p.batch = p.in_h = p.out_h = p.kernel_h = p.kernel_w = p.groups = 1;
  p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = 1;
  p.in_w = p.out_w = 2;
  p.in_c = 3;
  p.out_c = 17;
  p.input = {input, 0, 6};
  p.weights = {weights.data(), 0, 128};
  p.sums = {sums.data(), 0, 17};
  p.scale = {scale.data(), 0, 17};
  p.bias = {bias.data(), 0, 17};
  p.ranges = {ranges, 0, 4};
  p.input_scale = 4.f;
  p.input_zero = 1;
  p.low = -1e9f;
  p.high = 125.f;
  p.output = {output.data(), 0, 34};
  p.tile_blocks = 1;
  p.block_tile = 1;
  p.pixel_begin = 1;
  p.pixel_count = 1000;
  const auto call = [&](ConvI8FloatParameters given) {
    return import.function(&given, import.context, nullptr);
  };
  ASSERT_EQ(call(p), 0);
  for (size_t i = 0; i < 33; ++i) EXPECT_EQ(output[i], 0.f);
  EXPECT_EQ(output[33], (4 + 5 + 6 - 3) * 2.f + 100.f);
  p.ranges.size = 0;  // They are not read.
  EXPECT_EQ(call(p), 0);
  p.ranges.size = 4;
  p.input_scale = 0.f;  // The steps are those of the ranges.
  ASSERT_EQ(call(p), 0);
  EXPECT_EQ(output[33], 125.f);
  p.high = 1e9f;
  ASSERT_EQ(call(p), 0);
  EXPECT_EQ(output[33], (4 + 5 + 6 + 3 * 128) * 2.f + 100.f);
  const std::vector<std::function<void(ConvI8FloatParameters&)>> faults = {
      [](ConvI8FloatParameters& q) { --q.input.size; },
      [](ConvI8FloatParameters& q) { --q.weights.size; },
      [](ConvI8FloatParameters& q) { --q.sums.size; },
      [](ConvI8FloatParameters& q) { --q.scale.size; },
      [](ConvI8FloatParameters& q) { --q.bias.size; },
      [](ConvI8FloatParameters& q) { q.ranges.size = 1; },
      [](ConvI8FloatParameters& q) { q.input_zero = 128; },
      [](ConvI8FloatParameters& q) { --q.output.size; },
      [](ConvI8FloatParameters& q) { q.in_w = 3; },
      [](ConvI8FloatParameters& q) { q.in_h = INT32_MAX; },
      [](ConvI8FloatParameters& q) { q.kernel_h = 129; },
      [](ConvI8FloatParameters& q) { q.groups = 0; },
      [](ConvI8FloatParameters& q) { q.tile_blocks = 0; },
      [](ConvI8FloatParameters& q) { q.block_tile = 3; },
      [](ConvI8FloatParameters& q) { q.block_tile = -1; },
      [](ConvI8FloatParameters& q) { q.pixel_begin = 3; },
      [](ConvI8FloatParameters& q) { q.pixel_count = -1; },
  };
  WithEachFault(p, faults, [&](const ConvI8FloatParameters& bad) {
    EXPECT_NE(call(bad), 0);
  });
}

TEST(MapI8ImportTest, AppliesTheTableToItsTile) {
  const ImportFunction import =
      *FindKernelImport("takt_map_i8", kernels::SelectKernels({}), nullptr);
  std::vector<int8_t> table(256);
  for (int i = 0; i < 256; ++i) table[i] = static_cast<int8_t>(3 * i + 1);
  const int8_t input[5] = {-128, -1, 0, 1, 127};
  int8_t output[5] = {};
  ConvI8Parameters p;
  std::memset(&p, 0, sizeof(p));
  p.batch = p.in_h = p.in_c = p.out_h = p.out_c = p.kernel_h = p.kernel_w = 1;
  p.in_w = p.out_w = 5;
  p.pixel_count = 1000;
  p.input = {input, 0, 5};
  p.weights = {table.data(), 0, 256};
  p.output = {output, 0, 5};
  const auto call = [&](ConvI8Parameters given) {
    return import.function(&given, import.context, nullptr);
  };
  ASSERT_EQ(call(p), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(output[i], table[input[i] + 128]);
  std::memset(output, 0, sizeof(output));
  p.pixel_begin = 1;
  p.pixel_count = 2;
  ASSERT_EQ(call(p), 0);
  EXPECT_EQ(output[0], 0);
  EXPECT_EQ(output[1], table[127]);
  EXPECT_EQ(output[2], table[128]);
  EXPECT_EQ(output[3], 0);
  const std::vector<std::function<void(ConvI8Parameters&)>> faults = {
      [](ConvI8Parameters& q) { --q.input.size; },
      [](ConvI8Parameters& q) { --q.weights.size; },
      [](ConvI8Parameters& q) { --q.output.size; },
      [](ConvI8Parameters& q) { q.in_w = 6; },
      [](ConvI8Parameters& q) { q.in_w = q.out_w = -1; },
      [](ConvI8Parameters& q) { q.in_c = 2; },
      [](ConvI8Parameters& q) { q.batch = 2; },
      [](ConvI8Parameters& q) { q.pixel_begin = -1; },
      [](ConvI8Parameters& q) { q.pixel_begin = 6; },
      [](ConvI8Parameters& q) { q.pixel_count = -1; },
  };
  WithEachFault(p, faults,
                [&](const ConvI8Parameters& bad) { EXPECT_NE(call(bad), 0); });
}

}  // namespace
}  // namespace takt::cpu
