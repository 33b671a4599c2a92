#include "cpu/conv_depthwise_import.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct ConvDepthwiseParameters {
  ImportBuffer input, weights, bias, depthwise_weights, depthwise_bias, output;
  int32_t shape[16], depthwise_shape[16];
  int32_t activation, depthwise_activation, part_count;
  int32_t part, first_row, row_count;
  float low, high, depthwise_low, depthwise_high;
};

int Call(ConvDepthwiseParameters parameters) {
  KernelImportState state;
  const ImportFunction import = *FindKernelImport(
      "takt_conv2d_depthwise2d_f32", kernels::SelectKernels({}), &state);
  return import.function(&parameters, import.context, nullptr);
}

// A column of four pixels. The first convolution makes 2 x + 1 of them, at most
// 8; the second one adds neighbours. Element 0 lies before each buffer.
class ConvDepthwiseImportTest : public testing::Test {
 protected:
  ConvDepthwiseImportTest() {
    std::fill(weights_ + 1, weights_ + 17, 2.f);
    std::fill(bias_ + 1, bias_ + 17, 1.f);
    std::fill(depthwise_weights_ + 1, depthwise_weights_ + 33, 1.f);
  }
  ConvDepthwiseParameters Good() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {{input_, 1, 4},
            {weights_, 1, 16},
            {bias_, 1, 16},
            {depthwise_weights_, 1, 32},
            {depthwise_bias_, 1, 16},
            {output_, 1, 3},
            {1, 4, 1, 1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1},
            {1, 4, 1, 1, 3, 1, 1, 2, 1, 1, 1, 1, 1, 0, 0, 1},
            0,
            0,
            1,
            0,
            0,
            3,
            0,
            8,
            -kInfinity,
            kInfinity};
  }

  const float input_[5] = {99, 1, 2, 3, 4};
  float weights_[17] = {}, bias_[17] = {};
  float depthwise_weights_[33] = {}, depthwise_bias_[17] = {};
  float output_[4] = {};
};

TEST_F(ConvDepthwiseImportTest, ComputesTheRowsOfItsTile) {
  ConvDepthwiseParameters parameters = Good();
  parameters.first_row = 1;
  ASSERT_EQ(Call(parameters), 0);
  EXPECT_EQ(std::vector<float>(output_, output_ + 4),
            (std::vector<float>{0, 0, 12, 15}));
  ASSERT_EQ(Call(Good()), 0);
  EXPECT_EQ(output_[1], 8);
}

TEST_F(ConvDepthwiseImportTest, ALeakyReluHasItsSlopeAsTheLowerLimit) {
  std::fill(bias_ + 1, bias_ + 17, -6.f);
  ConvDepthwiseParameters parameters = Good();
  parameters.activation = 7;
  parameters.low = .5f;  // 2 x - 6: -2, -1, 0 and 2.
  ASSERT_EQ(Call(parameters), 0);
  EXPECT_EQ(std::vector<float>(output_, output_ + 4),
            (std::vector<float>{0, -3, -1, 2}));
}

TEST_F(ConvDepthwiseImportTest, RefusesWhatIsNotThere) {
  using P = ConvDepthwiseParameters;
  WithEachFault(
      Good(),
      {[](P& p) { --p.input.size; }, [](P& p) { --p.weights.size; },
       [](P& p) { --p.bias.size; }, [](P& p) { --p.depthwise_weights.size; },
       [](P& p) { --p.depthwise_bias.size; }, [](P& p) { --p.output.size; },
       [](P& p) { p.input.size = -4; }, [](P& p) { p.shape[0] = 2; },
       [](P& p) { p.shape[1] = INT32_MAX; }, [](P& p) { p.shape[4] = 5; },
       [](P& p) { p.shape[15] = 2; }, [](P& p) { p.depthwise_shape[7] = 0; },
       [](P& p) { p.depthwise_shape[15] = 2; },
       // More than the memory between the convolutions holds.
       [](P& p) { p.shape[5] = p.depthwise_shape[2] = 1 << 16; },
       [](P& p) { p.activation = -1; },
       [](P& p) { p.depthwise_activation = 9; }, [](P& p) { p.part_count = 0; },
       [](P& p) { p.part_count = 2; },  // No block for the first.
       [](P& p) { p.part = 1; }, [](P& p) { p.part = -1; },
       [](P& p) { p.first_row = -1; }, [](P& p) { p.first_row = 4; },
       [](P& p) { p.row_count = -1; }},
      [&](const P& parameters) {
        EXPECT_NE(Call(parameters), 0);
        for (const float x : output_) EXPECT_EQ(x, 0);
      });
}

}  // namespace
}  // namespace takt::cpu
