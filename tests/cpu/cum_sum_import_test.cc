#include "cpu/cum_sum_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct CumSumParameters {
  ImportBuffer numbers, sums;
  int32_t outer, count, inner, is_exclusive, is_reversed;
  int32_t part, first_row, row_count;
};

int CallCumSum(CumSumParameters parameters) {
  const ImportFunction import = *FindKernelImport(
      "takt_cum_sum_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(CumSumImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float numbers[13] = {99, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  float sums[13] = {};
  const CumSumParameters good = {
      {numbers, 1, 12}, {sums, 1, 12}, 2, 3, 2, 0, 0, 0, 0, 4};
  WithEachFault(good,
                {[](CumSumParameters& p) { --p.numbers.size; },
                 [](CumSumParameters& p) { --p.sums.size; },
                 [](CumSumParameters& p) { p.numbers.size = -12; },
                 [](CumSumParameters& p) { p.sums.size = -12; },
                 [](CumSumParameters& p) { p.outer = -1; },
                 [](CumSumParameters& p) { p.outer = INT32_MAX; },
                 [](CumSumParameters& p) { p.count = 0; },
                 [](CumSumParameters& p) { p.count = INT32_MAX; },
                 [](CumSumParameters& p) { p.inner = 0; },
                 [](CumSumParameters& p) { p.inner = INT32_MAX; },
                 [](CumSumParameters& p) { p.first_row = -1; },
                 [](CumSumParameters& p) { p.first_row = 5; },
                 [](CumSumParameters& p) { p.row_count = -1; }},
                [&](const CumSumParameters& parameters) {
                  EXPECT_NE(CallCumSum(parameters), 0);
                  for (const float x : sums) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallCumSum(good), 0);
  EXPECT_EQ(std::vector<float>(sums, sums + 13),
            (std::vector<float>{0, 1, 2, 4, 6, 9, 12, 6, 5, 10, 8, 12, 9}));
}

TEST(CumSumImportTest, ComputesTheColumnsOfItsTile) {
  const float numbers[12] = {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  float sums[12] = {};
  ASSERT_EQ(
      CallCumSum({{numbers, 0, 12}, {sums, 0, 12}, 2, 3, 2, 1, 1, 0, 1, 2}), 0);
  EXPECT_EQ(std::vector<float>(sums, sums + 12),
            (std::vector<float>{0, 10, 0, 6, 0, 0, 6, 0, 2, 0, 0, 0}));
}

}  // namespace
}  // namespace takt::cpu
