// A GRU, called as compiled kernels call it. The numbers are checked in
// tests/kernels; here it is which parameters are refused.
#include "cpu/gru_import.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"
#include "tests/cpu/recurrent_faults.h"

namespace takt::cpu {
namespace {

using Buffer = ImportBuffer;
struct GruParameters {
  Buffer input, weights, bias, state, output;
  int32_t steps, batch, hidden;
  int32_t lanes, part, first_row, row_count;
};

class GruImportTest : public testing::Test {
 protected:
  GruImportTest() {
    p_ = {{input_.data(), 1, 192},
          {weights_.data(), 0, 768},
          {bias_.data(), 0, 16},
          {state_.data(), 0, 32},
          {output_, 1, 64},
          2,
          2,
          16,
          16,
          0,
          0,
          2};
  }
  int Call(GruParameters parameters) {
    for (float& x : output_) x = 0.f;
    return import_.function(&parameters, import_.context, nullptr);
  }

  const ImportFunction import_ = *FindKernelImport(
      "takt_gru_steps_f32", kernels::SelectKernels({}), nullptr);
  // Element 0 lies before the buffer.
  std::vector<float> input_ = std::vector<float>(193, 0.f);
  std::vector<float> weights_ = std::vector<float>(768, 0.f);
  std::vector<float> bias_ = std::vector<float>(16, 0.f);
  std::vector<float> state_ = std::vector<float>(32, 1.f);
  float output_[66];
  GruParameters p_;
};

TEST_F(GruImportTest, ComputesAllSteps) {
  ASSERT_EQ(Call(p_), 0);
  // Each step halves the state.
  EXPECT_EQ(output_[0], 0.f);
  EXPECT_FLOAT_EQ(output_[1], .5f);
  EXPECT_FLOAT_EQ(output_[32], .5f);
  EXPECT_FLOAT_EQ(output_[33], .25f);
  EXPECT_FLOAT_EQ(output_[64], .25f);
  EXPECT_EQ(output_[65], 0.f);
}

TEST_F(GruImportTest, ComputesATileOfRows) {
  p_.first_row = 1;
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[16], 0.f);
  EXPECT_NEAR(output_[17], .5f, 1e-6f);
  EXPECT_EQ(output_[33], 0.f);
  EXPECT_NEAR(output_[49], .25f, 1e-6f);
}

TEST_F(GruImportTest, RefusesTilesThatAreNotThere) {
  WithEachFault(p_, TileFaults<GruParameters>(),
                [&](const GruParameters& parameters) {
                  EXPECT_NE(Call(parameters), 0);
                  for (const float x : output_) EXPECT_EQ(x, 0.f);
                });
}

TEST_F(GruImportTest, RefusesWhatDoesNotFit) {
  const std::vector<std::function<void(GruParameters&)>> faults = {
      [](GruParameters& p) { --p.input.size; },
      [](GruParameters& p) { --p.weights.size; },
      [](GruParameters& p) { --p.bias.size; },
      [](GruParameters& p) { --p.state.size; },
      [](GruParameters& p) { --p.output.size; },
      [](GruParameters& p) { p.steps = 0; },
      [](GruParameters& p) { p.batch = -1; },
      [](GruParameters& p) { p.hidden = 8; },
      [](GruParameters& p) { p.hidden = INT32_MAX; },
  };
  WithEachFault(p_, faults, [&](const GruParameters& parameters) {
    EXPECT_NE(Call(parameters), 0);
    for (const float x : output_) EXPECT_EQ(x, 0.f);
  });
}

}  // namespace
}  // namespace takt::cpu
