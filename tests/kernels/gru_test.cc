// The GRU of every kernel that runs here against the definition in double
// precision.
#include "kernels/gru.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/recurrent_check.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct GruProblem {
  RecurrentShape s;
  std::vector<float> input, weights, packed, bias, state;

  GruProblem(const RecurrentShape& shape, TestRandom& random) : s(shape) {
    const auto fill = [&](int64_t count) {
      std::vector<float> numbers(static_cast<size_t>(count));
      for (float& x : numbers) {
        x = static_cast<float>(random.Between(-1000, 1000)) * 1e-3f;
      }
      return numbers;
    };
    input = fill(s.steps * s.batch * 3 * s.hidden);
    weights = fill(3 * s.hidden * s.hidden);
    bias = fill(s.hidden);
    state = fill(s.batch * s.hidden);
    packed.resize(weights.size());
    for (int64_t row = 0; row < 3 * s.hidden; ++row) {
      for (int64_t k = 0; k < s.hidden; ++k) {
        const int64_t gate = row / s.hidden, lane = row % s.hidden;
        const int64_t line = (lane / kConvBlock * s.hidden + k) * 3 + gate;
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
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    for (int64_t t = 0; t < s.steps; ++t) {
      std::vector<double> next;
      for (int64_t b = 0; b < s.batch; ++b) {
        for (int64_t j = 0; j < s.hidden; ++j) {
          double gates[3] = {};
          for (int64_t gate = 0; gate < 3; ++gate) {
            for (int64_t k = 0; k < s.hidden; ++k) {
              gates[gate] +=
                  static_cast<double>(Weight(gate * s.hidden + j, k)) *
                  h[static_cast<size_t>(b * s.hidden + k)];
            }
          }
          const auto in = [&](int64_t gate) {
            return static_cast<double>(input[static_cast<size_t>(
                ((t * s.batch + b) * 3 + gate) * s.hidden + j)]);
          };
          const double z = sigmoid(in(0) + gates[0]);
          const double r = sigmoid(in(1) + gates[1]);
          const double n = std::tanh(
              in(2) + r * (gates[2] +
                           static_cast<double>(bias[static_cast<size_t>(j)])));
          next.push_back((1 - z) * n +
                         z * h[static_cast<size_t>(b * s.hidden + j)]);
        }
      }
      h = next;
      result.insert(result.end(), h.begin(), h.end());
    }
    return result;
  }
};

void CheckGruKernels(const GruProblem& p, int64_t rows, int64_t lanes) {
  CheckTiles(
      p, rows, lanes,
      [&](const F32Kernels& kernels, const RecurrentTile& tile, float* output) {
        kernels.gru(p.s,
                    {p.input.data(), p.packed.data(), p.bias.data(),
                     p.state.data(), output},
                    tile);
      });
}

TEST(GruTest, EveryKernelComputesTheDefinition) {
  TestRandom random(3);
  for (const RecurrentShape& s :
       {RecurrentShape{1, 1, 16}, RecurrentShape{3, 2, 48},
        RecurrentShape{4, 1, 80}, RecurrentShape{2, 3, 128},
        RecurrentShape{3, 6, 80}}) {
    CheckGruKernels(GruProblem(s, random), s.batch, s.hidden);
  }
}

TEST(GruTest, TilesAreRowsOfAllStepsOrLanesOfOneStep) {
  TestRandom random(4);
  CheckGruKernels(GruProblem({3, 7, 48}, random), 5, 48);
  CheckGruKernels(GruProblem({3, 2, 16}, random), 1, 16);
  CheckGruKernels(GruProblem({1, 1, 80}, random), 1, 32);
  CheckGruKernels(GruProblem({1, 5, 112}, random), 4, 48);
}

TEST(GruTest, ChecksSizes) {
  EXPECT_EQ(CheckRecurrentShape({65536, 65536, 8192}), nullptr);
  EXPECT_NE(CheckRecurrentShape({0, 1, 16}), nullptr);
  EXPECT_NE(CheckRecurrentShape({1, 65537, 16}), nullptr);
  EXPECT_NE(CheckRecurrentShape({1, 1, 24}), nullptr);
  EXPECT_NE(CheckRecurrentShape({1, 1, 8208}), nullptr);
}

TEST(GruTest, ATileOfSeveralStepsHasAllLanes) {
  RecurrentTile tile;
  EXPECT_TRUE(FindRecurrentTile({1, 1, 32}, 16, 1, 0, 1, &tile));
  EXPECT_EQ(tile.lane_begin, 16);
  EXPECT_EQ(tile.lane_end, 32);
  EXPECT_FALSE(FindRecurrentTile({2, 1, 32}, 16, 1, 0, 1, &tile));
  EXPECT_FALSE(FindRecurrentTile({1, 1, 32}, 16, 2, 0, 1, &tile));
}

}  // namespace
}  // namespace takt::kernels
