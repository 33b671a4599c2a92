#include "cpu/shuffle_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct ShuffleParameters {
  ImportBuffer input, output;
  int32_t rows, groups, each;
  int32_t part, first_row, row_count;
};

int Call(absl::string_view name, ShuffleParameters parameters) {
  const ImportFunction import =
      *FindKernelImport(name, kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(ShuffleImportTest, RefusesWhatIsNotThere) {
  // Element 0 lies before the buffers.
  const float input[9] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
  float output[9] = {};
  const ShuffleParameters good = {{input, 1, 8}, {output, 1, 8}, 2, 2, 2, 0, 0,
                                  2};
  WithEachFault(good,
                {[](ShuffleParameters& p) { --p.input.size; },
                 [](ShuffleParameters& p) { --p.output.size; },
                 [](ShuffleParameters& p) { p.input.size = -8; },
                 [](ShuffleParameters& p) { p.rows = 3; },
                 [](ShuffleParameters& p) { p.rows = -1; },
                 [](ShuffleParameters& p) { p.groups = 0; },
                 [](ShuffleParameters& p) { p.groups = INT32_MAX; },
                 [](ShuffleParameters& p) { p.each = 0; },
                 [](ShuffleParameters& p) { p.each = INT32_MAX; },
                 [](ShuffleParameters& p) { p.first_row = -1; },
                 [](ShuffleParameters& p) { p.first_row = 3; },
                 [](ShuffleParameters& p) { p.row_count = -1; }},
                [&](const ShuffleParameters& parameters) {
                  EXPECT_NE(Call("takt_shuffle_f32", parameters), 0);
                  for (const float x : output) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(Call("takt_shuffle_f32", good), 0);
  EXPECT_EQ(std::vector<float>(output, output + 9),
            (std::vector<float>{0, 1, 3, 2, 4, 5, 7, 6, 8}));
}

TEST(ShuffleImportTest, ComputesTheRowsOfItsTile) {
  const int8_t input[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int8_t output[8] = {};
  ASSERT_EQ(Call("takt_shuffle_i8",
                 {{input, 0, 8}, {output, 0, 8}, 2, 2, 2, 0, 1, 5}),
            0);
  EXPECT_EQ(std::vector<int8_t>(output, output + 8),
            (std::vector<int8_t>{0, 0, 0, 0, 5, 7, 6, 8}));
}

}  // namespace
}  // namespace takt::cpu
