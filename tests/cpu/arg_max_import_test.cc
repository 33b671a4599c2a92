#include "cpu/arg_max_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct ArgMaxParameters {
  ImportBuffer numbers, places;
  int32_t outer, count, inner, is_least, is_last;
  int32_t part, first_row, row_count;
};

int CallArgMax(ArgMaxParameters parameters) {
  const ImportFunction import = *FindKernelImport(
      "takt_arg_max_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(ArgMaxImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float numbers[13] = {99, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  int32_t places[5] = {};
  const ArgMaxParameters good = {
      {numbers, 1, 12}, {places, 1, 4}, 2, 3, 2, 0, 0, 0, 0, 4};
  WithEachFault(good,
                {[](ArgMaxParameters& p) { --p.numbers.size; },
                 [](ArgMaxParameters& p) { --p.places.size; },
                 [](ArgMaxParameters& p) { p.numbers.size = -12; },
                 [](ArgMaxParameters& p) { p.outer = -1; },
                 [](ArgMaxParameters& p) { p.outer = INT32_MAX; },
                 [](ArgMaxParameters& p) { p.count = 0; },
                 [](ArgMaxParameters& p) { p.count = INT32_MAX; },
                 [](ArgMaxParameters& p) { p.inner = 0; },
                 [](ArgMaxParameters& p) { p.inner = INT32_MAX; },
                 [](ArgMaxParameters& p) { p.first_row = -1; },
                 [](ArgMaxParameters& p) { p.first_row = 5; },
                 [](ArgMaxParameters& p) { p.row_count = -1; }},
                [&](const ArgMaxParameters& parameters) {
                  EXPECT_NE(CallArgMax(parameters), 0);
                  for (const int32_t x : places) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallArgMax(good), 0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 5),
            (std::vector<int32_t>{0, 2, 2, 0, 0}));
}

TEST(ArgMaxImportTest, ComputesTheColumnsOfItsTile) {
  const float numbers[12] = {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  int32_t places[4] = {-1, -1, -1, -1};
  ASSERT_EQ(
      CallArgMax({{numbers, 0, 12}, {places, 0, 4}, 2, 3, 2, 1, 0, 0, 1, 2}),
      0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 4),
            (std::vector<int32_t>{-1, 0, 2, -1}));
}

}  // namespace
}  // namespace takt::cpu
