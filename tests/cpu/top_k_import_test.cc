#include "cpu/top_k_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct TopKParameters {
  ImportBuffer numbers, places;
  int32_t rows, count, most, is_least;
  int32_t part, first_row, row_count;
};

int CallTopK(TopKParameters parameters, const char* name = "takt_top_k_f32") {
  const ImportFunction import =
      *FindKernelImport(name, kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(TopKImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float numbers[7] = {99, 1, 3, 2, 5, 4, 6};
  int32_t places[5] = {};
  const TopKParameters good = {
      {numbers, 1, 6}, {places, 1, 4}, 2, 3, 2, 0, 0, 0, 2};
  WithEachFault(good,
                {[](TopKParameters& p) { --p.numbers.size; },
                 [](TopKParameters& p) { --p.places.size; },
                 [](TopKParameters& p) { p.numbers.size = -6; },
                 [](TopKParameters& p) { p.rows = -1; },
                 [](TopKParameters& p) { p.rows = INT32_MAX; },
                 [](TopKParameters& p) { p.count = 0, p.most = 0; },
                 [](TopKParameters& p) { p.count = INT32_MAX; },
                 [](TopKParameters& p) { p.most = -1; },
                 [](TopKParameters& p) { p.most = 4; },
                 [](TopKParameters& p) { p.first_row = -1; },
                 [](TopKParameters& p) { p.first_row = 3; },
                 [](TopKParameters& p) { p.row_count = -1; }},
                [&](const TopKParameters& parameters) {
                  EXPECT_NE(CallTopK(parameters), 0);
                  for (const int32_t x : places) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallTopK(good), 0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 5),
            (std::vector<int32_t>{0, 1, 2, 2, 0}));
}

TEST(TopKImportTest, ComputesTheRowsOfItsTile) {
  const float numbers[6] = {1, 3, 5, 4, 2, 6};
  int32_t places[3] = {-1, -1, -1};
  ASSERT_EQ(CallTopK({{numbers, 0, 6}, {places, 0, 3}, 3, 2, 1, 1, 0, 1, 9}),
            0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 3),
            (std::vector<int32_t>{-1, 1, 0}));
}

TEST(TopKImportTest, TakesIntegers) {
  const int64_t numbers[6] = {-1, int64_t{1} << 60, 5, -9, 2, 6};
  int32_t places[4] = {-1, -1, -1, -1};
  TopKParameters parameters = {
      {numbers, 0, 6}, {places, 0, 4}, 2, 3, 2, 0, 0, 0, 2};
  ASSERT_EQ(CallTopK(parameters, "takt_top_k_i64"), 0);
  EXPECT_EQ(std::vector<int32_t>(places, places + 4),
            (std::vector<int32_t>{1, 2, 2, 1}));
  --parameters.numbers.size;
  EXPECT_NE(CallTopK(parameters, "takt_top_k_i64"), 0);
}

}  // namespace
}  // namespace takt::cpu
