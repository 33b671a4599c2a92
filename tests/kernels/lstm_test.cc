// The LSTM of every kernel that runs here against the definition in double
// precision.
#include "kernels/lstm.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/recurrent_check.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct LstmProblem {
  RecurrentShape s;
  std::vector<float> input, weights, packed, state, cell;

  LstmProblem(const RecurrentShape& shape, TestRandom& random) : s(shape) {
    const auto fill = [&](int64_t count) {
      std::vector<float> numbers(static_cast<size_t>(count));
      for (float& x : numbers) {
        x = static_cast<float>(random.Between(-1000, 1000)) * 1e-3f;
      }
      return numbers;
    };
    input = fill(s.steps * s.batch * 4 * s.hidden);
    weights = fill(4 * s.hidden * s.hidden);
    state = fill(s.batch * s.hidden);
    cell = fill(s.batch * s.hidden);
    packed.resize(weights.size());
    for (int64_t row = 0; row < 4 * s.hidden; ++row) {
      for (int64_t k = 0; k < s.hidden; ++k) {
        const int64_t gate = row / s.hidden, lane = row % s.hidden;
        const int64_t line = (lane / kConvBlock * s.hidden + k) * 4 + gate;
        packed[static_cast<size_t>(line * kConvBlock + lane % kConvBlock)] =
            Weight(row, k);
      }
    }
  }
  float Weight(int64_t row, int64_t k) const {
    return weights[static_cast<size_t>(row * s.hidden + k)];
  }
  std::vector<double> Expected() const {
    std::vector<double> result;
    std::vector<double> h(state.begin(), state.end());
    std::vector<double> c(cell.begin(), cell.end());
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    for (int64_t t = 0; t < s.steps; ++t) {
      std::vector<double> next;
      for (int64_t b = 0; b < s.batch; ++b) {
        for (int64_t j = 0; j < s.hidden; ++j) {
          double gates[4];
          for (int64_t gate = 0; gate < 4; ++gate) {
            gates[gate] = static_cast<double>(input[static_cast<size_t>(
                ((t * s.batch + b) * 4 + gate) * s.hidden + j)]);
            for (int64_t k = 0; k < s.hidden; ++k) {
              gates[gate] +=
                  static_cast<double>(Weight(gate * s.hidden + j, k)) *
                  h[static_cast<size_t>(b * s.hidden + k)];
            }
          }
          double& memory = c[static_cast<size_t>(b * s.hidden + j)];
          memory = sigmoid(gates[2]) * memory +
                   sigmoid(gates[0]) * std::tanh(gates[3]);
          next.push_back(sigmoid(gates[1]) * std::tanh(memory));
        }
      }
      h = next;
      result.insert(result.end(), h.begin(), h.end());
    }
    result.insert(result.end(), c.begin(), c.end());
    return result;
  }
};

void CheckLstmKernels(const LstmProblem& p, int64_t rows, int64_t lanes) {
  CheckTiles(
      p, rows, lanes,
      [&](const F32Kernels& kernels, const RecurrentTile& tile, float* output) {
        kernels.lstm(p.s,
                     {p.input.data(), p.packed.data(), p.state.data(),
                      p.cell.data(), output},
                     tile);
      });
}

TEST(LstmTest, EveryKernelComputesTheDefinition) {
  TestRandom random(3);
  for (const RecurrentShape& s :
       {RecurrentShape{1, 1, 16}, RecurrentShape{3, 2, 48},
        RecurrentShape{4, 1, 80}, RecurrentShape{2, 3, 128},
        RecurrentShape{3, 6, 80}}) {
    CheckLstmKernels(LstmProblem(s, random), s.batch, s.hidden);
  }
}

TEST(LstmTest, TilesAreRowsOfAllStepsOrLanesOfOneStep) {
  TestRandom random(4);
  CheckLstmKernels(LstmProblem({3, 7, 48}, random), 5, 48);
  CheckLstmKernels(LstmProblem({3, 2, 16}, random), 1, 16);
  CheckLstmKernels(LstmProblem({1, 1, 80}, random), 1, 32);
  CheckLstmKernels(LstmProblem({1, 5, 112}, random), 4, 48);
}

}  // namespace
}  // namespace takt::kernels
