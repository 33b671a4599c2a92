#include "cpu/boxes_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct Parameters {
  ImportBuffer boxes, scores, output;
  int32_t batch, classes, count, most, is_centered;
  int32_t part, first_row, row_count;
  float overlap_max, score_min;
};

int Call(Parameters parameters) {
  const ImportFunction import = *FindKernelImport(
      "takt_select_boxes_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(BoxesImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const float boxes[9] = {99, 0, 0, 1, 1, 2, 2, 3, 3};
  const float scores[5] = {99, 1, 2, 3, 4};
  int32_t output[16] = {};
  const Parameters good = {{boxes, 1, 8},
                           {scores, 1, 4},
                           {output, 1, 15},
                           1,
                           2,
                           2,
                           9,
                           0,
                           0,
                           0,
                           1,
                           .5f,
                           0};
  WithEachFault(
      good,
      {[](Parameters& p) { --p.boxes.size; },
       [](Parameters& p) { --p.scores.size; },
       [](Parameters& p) { --p.output.size; },
       [](Parameters& p) { p.output.size = 2, p.count = 0; },
       [](Parameters& p) { p.boxes.size = -8; },
       [](Parameters& p) { p.batch = 2; }, [](Parameters& p) { p.batch = -1; },
       [](Parameters& p) { p.classes = INT32_MAX; },
       [](Parameters& p) { p.classes = -1; },
       [](Parameters& p) { p.count = -1; },
       [](Parameters& p) { p.count = 65537; },
       [](Parameters& p) { p.most = -1; }},
      [&](const Parameters& parameters) {
        EXPECT_NE(Call(parameters), 0);
        for (const int32_t x : output) EXPECT_EQ(x, 0);
      });
  ASSERT_EQ(Call(good), 0);
  EXPECT_EQ(
      std::vector<int32_t>(output, output + 16),
      (std::vector<int32_t>{0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace takt::cpu
