#include "cpu/arg_max_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct Parameters {
  ImportBuffer numbers, places;
  int32_t outer, count, inner, is_least, is_last;
  int32_t part, first_row, row_count;
};

int Call(Parameters parameters) {
  const ImportFunction import = *FindKernelImport(
      "takt_arg_max_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(ArgMaxImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float numbers[13] = {99, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  int32_t places[5] = {};
  const Parameters good = {
      {numbers, 1, 12}, {places, 1, 4}, 2, 3, 2, 0, 0, 0, 0, 4};
  WithEachFault(good,
                {[](Parameters& p) { --p.numbers.size; },
                 [](Parameters& p) { --p.places.size; },
                 [](Parameters& p) { p.numbers.size = -12; },
                 [](Parameters& p) { p.outer = -1; },
                 [](Parameters& p) { p.outer = INT32_MAX; },
                 [](Parameters& p) { p.count = 0; },
                 [](Parameters& p) { p.count = INT32_MAX; },
                 [](Parameters& p) { p.inner = 0; },
                 [](Parameters& p) { p.inner = INT32_MAX; },
                 [](Parameters& p) { p.first_row = -1; },
                 [](Parameters& p) { p.first_row = 5; },
                 [](Parameters& p) { p.row_count = -1; }},
                [&](const Parameters& parameters) {
                  EXPECT_NE(Call(parameters), 0);
                  for (const int32_t x : places) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(Call(good), 0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 5),
            (std::vector<int32_t>{0, 2, 2, 0, 0}));
}

TEST(ArgMaxImportTest, ComputesTheColumnsOfItsTile) {
  const float numbers[12] = {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  int32_t places[4] = {-1, -1, -1, -1};
  ASSERT_EQ(Call({{numbers, 0, 12}, {places, 0, 4}, 2, 3, 2, 1, 0, 0, 1, 2}),
            0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 4),
            (std::vector<int32_t>{-1, 0, 2, -1}));
}

}  // namespace
}  // namespace takt::cpu
