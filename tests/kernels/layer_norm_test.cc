// The layer norm of every kernel that runs here against the definition.
#include "kernels/layer_norm.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(LayerNormTest, EveryKernelComputesTheDefinition) {
  TestRandom random(1);
  for (const int64_t size : {1, 7, 16, 49, 64, 200, 1000}) {
    constexpr int64_t kRows = 5;
    constexpr float kEpsilon = 1e-3f;
    std::vector<float> input, gamma, beta;
    for (int64_t i = 0; i < kRows * size; ++i) {
      // The mean is much larger than what a row's numbers differ by.
      input.push_back(static_cast<float>(random.Between(-900, 900)) * .01f +
                      100.f);
    }
    for (int64_t i = 0; i < size; ++i) {
      gamma.push_back(static_cast<float>(random.Between(-90, 90)) * .1f);
      beta.push_back(static_cast<float>(random.Between(-90, 90)) * .1f);
    }
    for (const KernelTable& kernels : RunnableKernels()) {
      std::vector<float> output(input.size());
      kernels.f32->layer_norm(
          {input.data(), gamma.data(), beta.data(), output.data()}, kRows, size,
          kEpsilon);
      for (int64_t row = 0; row < kRows; ++row) {
        const float* const x = input.data() + row * size;
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < size; ++i) mean += x[i];
        mean /= static_cast<double>(size);
        for (int64_t i = 0; i < size; ++i) {
          variance += (x[i] - mean) * (x[i] - mean);
        }
        variance /= static_cast<double>(size);
        for (int64_t i = 0; i < size; ++i) {
          const auto at = static_cast<size_t>(i);
          EXPECT_NEAR(
              output[static_cast<size_t>(row * size + i)],
              (x[i] - mean) / std::sqrt(variance + kEpsilon) * gamma[at] +
                  beta[at],
              2e-4)
              << "size " << size << ", row " << row << " at " << i;
        }
      }
      // In place.
      std::vector<float> same = input;
      kernels.f32->layer_norm(
          {same.data(), gamma.data(), beta.data(), same.data()}, kRows, size,
          kEpsilon);
      EXPECT_EQ(same, output);
    }
  }
}

}  // namespace
}  // namespace takt::kernels
