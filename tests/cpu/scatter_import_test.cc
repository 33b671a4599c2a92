#include "cpu/scatter_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct ScatterParameters {
  ImportBuffer data, places, updates, output;
  int32_t outer, size, inner, count, reduction, is_wide;
  int32_t part, first_row, row_count;
};

int CallScatter(ScatterParameters parameters) {
  const ImportFunction import = *FindKernelImport(
      "takt_scatter_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(ScatterImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float data[9] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
  const int32_t places[5] = {99, 0, 1, 1, 0};
  const float updates[5] = {99, 10, 20, 30, 40};
  float output[9] = {};
  const ScatterParameters good = {{data, 1, 8},
                                  {places, 1, 4},
                                  {updates, 1, 4},
                                  {output, 1, 8},
                                  2,
                                  2,
                                  2,
                                  1,
                                  0,
                                  1,
                                  0,
                                  0,
                                  4};
  WithEachFault(good,
                {[](ScatterParameters& p) { --p.data.size; },
                 [](ScatterParameters& p) { --p.places.size; },
                 [](ScatterParameters& p) { --p.updates.size; },
                 [](ScatterParameters& p) { --p.output.size; },
                 [](ScatterParameters& p) { p.data.size = -8; },
                 [](ScatterParameters& p) { p.outer = -1; },
                 [](ScatterParameters& p) { p.outer = INT32_MAX; },
                 [](ScatterParameters& p) { p.size = 0; },
                 [](ScatterParameters& p) { p.size = INT32_MAX; },
                 [](ScatterParameters& p) { p.inner = 0; },
                 [](ScatterParameters& p) { p.inner = INT32_MAX; },
                 [](ScatterParameters& p) { p.count = -1; },
                 [](ScatterParameters& p) { p.count = INT32_MAX; },
                 [](ScatterParameters& p) { p.reduction = -1; },
                 [](ScatterParameters& p) { p.reduction = 5; },
                 [](ScatterParameters& p) { p.is_wide = 0, p.places.size = 0; },
                 [](ScatterParameters& p) { p.first_row = -1; },
                 [](ScatterParameters& p) { p.first_row = 5; },
                 [](ScatterParameters& p) { p.row_count = -1; }},
                [&](const ScatterParameters& parameters) {
                  EXPECT_NE(CallScatter(parameters), 0);
                  for (const float x : output) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallScatter(good), 0);
  EXPECT_EQ(std::vector<float>(output, output + 9),
            (std::vector<float>{0, 10, 2, 3, 20, 5, 40, 30, 8}));
}

TEST(ScatterImportTest, ComputesTheRowsOfItsTile) {
  const float data[4] = {1, 2, 3, 4}, updates[3] = {10, 20, 30};
  const int32_t places[3] = {1, 2, 1};
  float output[4] = {};
  ASSERT_EQ(CallScatter({{data, 0, 4},
                         {places, 0, 3},
                         {updates, 0, 3},
                         {output, 0, 4},
                         1,
                         4,
                         1,
                         3,
                         1,
                         0,
                         0,
                         1,
                         2}),
            0);
  EXPECT_EQ(std::vector<float>(output, output + 4),
            (std::vector<float>{0, 42, 23, 0}));
}

}  // namespace
}  // namespace takt::cpu
