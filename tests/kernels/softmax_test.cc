// Softmax of every kernel that runs here against the definition.
#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(SoftmaxTest, EveryKernelComputesTheDefinition) {
  TestRandom random(1);
  for (const int64_t size : {1, 7, 16, 49, 196, 1000}) {
    constexpr int64_t kRows = 5;
    std::vector<float> input;
    for (int64_t i = 0; i < kRows * size; ++i) {
      input.push_back(static_cast<float>(random.Between(-900, 900)) * .01f);
    }
    input[0] = 200.f;    // Beyond the exponent of a float.
    input[1] = -1000.f;  // Size 1: of the next row.
    for (const KernelTable& kernels : RunnableKernels()) {
      std::vector<float> output(input.size());
      kernels.f32->softmax(input.data(), kRows, size, output.data());
      for (int64_t row = 0; row < kRows; ++row) {
        const float* const x = input.data() + row * size;
        const double most = *std::max_element(x, x + size);
        double sum = 0;
        for (int64_t i = 0; i < size; ++i) sum += std::exp(x[i] - most);
        for (int64_t i = 0; i < size; ++i) {
          EXPECT_NEAR(output[static_cast<size_t>(row * size + i)],
                      std::exp(x[i] - most) / sum, 1e-6)
              << "row " << row << " at " << i;
        }
      }
      // In place.
      std::vector<float> same = input;
      kernels.f32->softmax(same.data(), kRows, size, same.data());
      EXPECT_EQ(same, output);
    }
  }
}

TEST(SoftmaxTest, ARowOfNothingIsNoNumber) {
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  for (const size_t size : {3u, 40u}) {
    // Other rows stay as they are, if they have anything.
    std::vector<float> input(3 * size, kNothing);
    input[1] = 2.f;
    input[3 * size - 1] = -5.f;
    for (const KernelTable& kernels : RunnableKernels()) {
      std::vector<float> output(input.size());
      kernels.f32->softmax(input.data(), 3, static_cast<int64_t>(size),
                           output.data());
      for (size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(output[i], i == 1 ? 1.f : 0.f, 1e-6);
        EXPECT_TRUE(std::isnan(output[size + i]));
        EXPECT_NEAR(output[2 * size + i], i + 1 == size ? 1.f : 0.f, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace takt::kernels
