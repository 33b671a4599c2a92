// What compiled kernels import from Takt, called as they call it. The numbers
// are checked in tests/kernels; here it is which parameters are refused.
#include "cpu/kernel_imports.h"

#include <cstdint>
#include <vector>

#include "base/thread.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(KernelImportsTest, KnowsNoOtherNames) {
  EXPECT_FALSE(
      FindKernelImport("takt_conv2d", kernels::SelectKernels({}), nullptr)
          .has_value());
  KernelImportState state;
  for (const char* name :
       {"takt_conv2d_f32", "takt_conv2d_bf16", "takt_winograd2d_f32",
        "takt_winograd_inputs_f32", "takt_winograd_sums_f32"}) {
    EXPECT_TRUE(
        FindKernelImport(name, kernels::SelectKernels({}), &state).has_value());
  }
}

// As a module's code lays them out.
struct FloatParameters {
  int32_t result;
  struct {
    const float* base;
    int64_t offset;
  } input, weights, bias, residual, output;
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
  int64_t stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups;
  int64_t flags;
  int64_t block_tile, block_tiles, pixel_tile, pixel_tiles;
  float low, high;
};
static_assert(sizeof(FloatParameters) == 264);

// A convolution of 3x3 of square images, in one tile.
FloatParameters ConvolutionOf(int64_t size, int64_t channels) {
  FloatParameters p = {};
  p.batch = p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = 1;
  p.pad_top = p.pad_left = p.groups = p.block_tiles = p.pixel_tiles = 1;
  p.in_h = p.in_w = p.out_h = p.out_w = size;
  p.in_c = p.out_c = channels;
  p.kernel_h = p.kernel_w = 3;
  p.low = -100.f;
  p.high = 100.f;
  return p;
}

// Threads of applications run synchronous calls, and may have small stacks.
TEST(Winograd2dImportTest, RunsOnASmallStack) {
  KernelImportState state;
  const ImportFunction import = *FindKernelImport(
      "takt_winograd2d_f32", kernels::SelectKernels({}), &state);
  constexpr int64_t kSize = 24, kChannels = 16;
  const std::vector<float> input(kSize * kSize * kChannels, 1.f);
  const std::vector<float> weights(36 * kChannels * kChannels, 0.f);
  const std::vector<float> bias(kChannels, 7.f);
  std::vector<float> output(input.size(), 0.f);
  FloatParameters p = ConvolutionOf(kSize, kChannels);
  p.input = {input.data(), 0};
  p.weights = {weights.data(), 0};
  p.bias = {bias.data(), 0};
  p.output = {output.data(), 0};
  const auto call = [&] {
    EXPECT_EQ(import.function(&p, import.context, nullptr), 0);
  };
  Thread thread;
  Thread::Options options;
  options.stack_bytes = 128 << 10;
  ASSERT_TRUE(thread
                  .Start(
                      options,
                      [](void* f) { (*static_cast<decltype(call)*>(f))(); },
                      const_cast<void*>(static_cast<const void*>(&call)))
                  .ok());
  thread.Join();
  for (const float x : output) ASSERT_EQ(x, 7.f);
}

// With sums of 0, the result is the bias. A tile writes its squares only.
TEST(WinogradSumsImportTest, TakesTilesOfSquaresWithAllChannels) {
  KernelImportState state;
  const ImportFunction import = *FindKernelImport(
      "takt_winograd_sums_f32", kernels::SelectKernels({}), &state);
  const auto run = [&](FloatParameters p) {
    return import.function(&p, import.context, nullptr);
  };
  constexpr int64_t kSize = 8, kChannels = 16;
  const std::vector<float> sums(4 * 36 * kChannels, 0.f);
  const std::vector<float> bias(kChannels, 7.f);
  std::vector<float> output(kSize * kSize * kChannels, 0.f);
  FloatParameters p = ConvolutionOf(kSize, kChannels);
  p.input = {sums.data(), 0};
  p.bias = {bias.data(), 0};
  p.output = {output.data(), 0};
  p.pixel_tiles = 2;
  p.pixel_tile = 1;
  EXPECT_EQ(run(p), 0);
  for (size_t i = 0; i < output.size(); ++i) {
    ASSERT_EQ(output[i], i < output.size() / 2 ? 0.f : 7.f);
  }
  FloatParameters other = p;
  other.block_tiles = 2;
  EXPECT_NE(run(other), 0);
  other = p;
  other.kernel_h = other.in_h = 5;
  EXPECT_NE(run(other), 0);
  other = p;
  other.out_c = 15;
  EXPECT_NE(run(other), 0);
  other = p;
  other.pixel_tile = 2;
  EXPECT_NE(run(other), 0);
}

// Two convolutions write the halves of one tensor's channels.
TEST(Conv2dImportTest, WritesChannelsOfAWiderTensor) {
  const ImportFunction import =
      *FindKernelImport("takt_conv2d_f32", kernels::SelectKernels({}), nullptr);
  constexpr int64_t kSize = 4, kChannels = 2;
  const std::vector<float> input(kSize * kSize * kChannels, 1.f);
  const std::vector<float> weights(9 * kChannels * 16, 0.f);
  std::vector<float> output(kSize * kSize * 2 * kChannels, 0.f);
  FloatParameters p = ConvolutionOf(kSize, kChannels);
  p.input = {input.data(), 0};
  p.weights = {weights.data(), 0};
  const auto run = [&](int64_t first, int64_t width, int64_t flags) {
    const std::vector<float> bias(16, static_cast<float>(first + 1));
    p.bias = {bias.data(), 0};
    p.output = {output.data(), first};
    p.flags = width * 65536 + flags;
    return import.function(&p, import.context, nullptr);
  };
  EXPECT_EQ(run(0, 2 * kChannels, 0), 0);
  EXPECT_EQ(run(kChannels, 2 * kChannels, 0), 0);
  for (size_t i = 0; i < output.size(); ++i) {
    ASSERT_EQ(output[i], i % 4 < 2 ? 1.f : 3.f) << i;
  }
  EXPECT_NE(run(0, kChannels - 1, 0), 0);
  EXPECT_NE(run(0, -1, 0), 0);
  EXPECT_NE(run(0, int64_t{1} << 21, 0), 0);
  p.residual = {input.data(), 0};
  EXPECT_NE(run(0, 2 * kChannels, 1), 0);
  EXPECT_EQ(run(0, 0, 1), 0);
}

}  // namespace
}  // namespace takt::cpu
