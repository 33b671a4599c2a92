// An LSTM, called as compiled kernels call it. The numbers are checked in
// tests/kernels; here it is which parameters are refused.
#include "cpu/lstm_import.h"

#include <cmath>
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
struct LstmParameters {
  Buffer input, weights, state, cell, output;
  int32_t steps, batch, hidden;
  int32_t lanes, part, first_row, row_count;
};

class LstmImportTest : public testing::Test {
 protected:
  LstmImportTest() {
    p_ = {{input_.data(), 1, 256},
          {weights_.data(), 0, 1024},
          {state_.data(), 0, 32},
          {cell_.data(), 0, 32},
          {output_, 1, 96},
          2,
          2,
          16,
          16,
          0,
          0,
          2};
  }
  int Call(LstmParameters parameters) {
    for (float& x : output_) x = 0.f;
    return import_.function(&parameters, import_.context, nullptr);
  }

  const ImportFunction import_ = *FindKernelImport(
      "takt_lstm_steps_f32", kernels::SelectKernels({}), nullptr);
  // Element 0 lies before the buffer.
  std::vector<float> input_ = std::vector<float>(257, 0.f);
  std::vector<float> weights_ = std::vector<float>(1024, 0.f);
  std::vector<float> state_ = std::vector<float>(32, 1.f);
  std::vector<float> cell_ = std::vector<float>(32, 1.f);
  float output_[98];
  LstmParameters p_;
};

TEST_F(LstmImportTest, ComputesAllSteps) {
  ASSERT_EQ(Call(p_), 0);
  // Each step halves the cell, and half of its tangent is the state.
  EXPECT_EQ(output_[0], 0.f);
  EXPECT_NEAR(output_[1], std::tanh(.5f) / 2, 1e-6f);
  EXPECT_NEAR(output_[32], std::tanh(.5f) / 2, 1e-6f);
  EXPECT_NEAR(output_[33], std::tanh(.25f) / 2, 1e-6f);
  EXPECT_NEAR(output_[64], std::tanh(.25f) / 2, 1e-6f);
  EXPECT_FLOAT_EQ(output_[65], .25f);
  EXPECT_FLOAT_EQ(output_[96], .25f);
  EXPECT_EQ(output_[97], 0.f);
}

TEST_F(LstmImportTest, ComputesATileOfRows) {
  p_.first_row = 1;
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[16], 0.f);
  EXPECT_NEAR(output_[17], std::tanh(.5f) / 2, 1e-6f);
  EXPECT_EQ(output_[33], 0.f);
  EXPECT_NEAR(output_[49], std::tanh(.25f) / 2, 1e-6f);
}

TEST_F(LstmImportTest, RefusesTilesThatAreNotThere) {
  WithEachFault(p_, TileFaults<LstmParameters>(),
                [&](const LstmParameters& parameters) {
                  EXPECT_NE(Call(parameters), 0);
                  for (const float x : output_) EXPECT_EQ(x, 0.f);
                });
}

TEST_F(LstmImportTest, RefusesWhatDoesNotFit) {
  const std::vector<std::function<void(LstmParameters&)>> faults = {
      [](LstmParameters& p) { --p.input.size; },
      [](LstmParameters& p) { --p.weights.size; },
      [](LstmParameters& p) { --p.cell.size; },
      [](LstmParameters& p) { --p.state.size; },
      [](LstmParameters& p) { --p.output.size; },
      [](LstmParameters& p) { p.steps = 0; },
      [](LstmParameters& p) { p.batch = -1; },
      [](LstmParameters& p) { p.hidden = 8; },
      [](LstmParameters& p) { p.hidden = INT32_MAX; },
  };
  WithEachFault(p_, faults, [&](const LstmParameters& parameters) {
    EXPECT_NE(Call(parameters), 0);
    for (const float x : output_) EXPECT_EQ(x, 0.f);
  });
}

}  // namespace
}  // namespace takt::cpu
