// Every kernel of blend.h that runs here against its definition.
#include "kernels/blend.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conv2d.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(BlendTest, EveryKernelComputesTheDefinition) {
  TestRandom random(1);
  constexpr int64_t kOuter = 11, kSize = 5, kCount = 7;
  const std::vector<int32_t> first = {0, 0, 4, 1, 3, 2, 4};
  const std::vector<float> share = {0.f, .25f, .5f, .75f, 1.f, .125f, 0.f};
  for (const int64_t inner : {1, 3, 4, 8, 15, 16, 33, 100}) {
    std::vector<float> input;
    for (int64_t i = 0; i < kOuter * kSize * inner; ++i) {
      input.push_back(static_cast<float>(random.Between(-99, 99)));
    }
    std::vector<float> output(static_cast<size_t>(kOuter * kCount * inner));
    const BlendOperands o = {input.data(), first.data(), share.data(),
                             output.data()};
    constexpr int64_t kBegin = 2, kEnd = kOuter * kCount - 3;
    std::vector<BlendKernel> kernels;
    if (inner == 1) kernels.push_back(BlendNumbers);
    for (const KernelTable& each : RunnableKernels()) {
      kernels.push_back(each.f32->blend);
    }
    for (const BlendKernel blend : kernels) {
      std::fill(output.begin(), output.end(), 7777.f);
      blend({kSize, kCount, inner}, o, kBegin, kEnd);
      for (int64_t row = 0; row < kOuter * kCount; ++row) {
        const auto i = static_cast<size_t>(row % kCount);
        const int64_t line = row / kCount * kSize;
        const int64_t next = first[i] + 1 < kSize ? first[i] + 1 : first[i];
        for (int64_t k = 0; k < inner; ++k) {
          const auto at = [&](int64_t place) {
            return input[static_cast<size_t>((line + place) * inner + k)];
          };
          // All of it is exact.
          const float blended =
              at(first[i]) * (1 - share[i]) + at(next) * share[i];
          ASSERT_EQ(output[static_cast<size_t>(row * inner + k)],
                    row >= kBegin && row < kEnd ? blended : 7777.f)
              << row << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace takt::kernels
