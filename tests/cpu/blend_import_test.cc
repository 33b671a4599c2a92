#include "cpu/blend_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct BlendParameters {
  ImportBuffer input, first, share, output;
  int32_t outer, size, count, inner;
  int32_t part, first_row, row_count;
};

int CallBlend(BlendParameters parameters) {
  const ImportFunction import =
      *FindKernelImport("takt_blend_f32", kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

TEST(BlendImportTest, RefusesWhatIsNotThere) {
  // Element 0 lies before the buffers.
  const float input[9] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
  int32_t first[4] = {99, 0, 1, 0};
  const float share[4] = {99, .5f, .5f, 0};
  float output[13] = {};
  const BlendParameters good = {{input, 1, 8},
                                {first, 1, 3},
                                {share, 1, 3},
                                {output, 1, 12},
                                2,
                                2,
                                3,
                                2,
                                0,
                                0,
                                6};
  const auto refuse = [&](const BlendParameters& parameters) {
    EXPECT_NE(CallBlend(parameters), 0);
    for (const float x : output) EXPECT_EQ(x, 0);
  };
  WithEachFault(good,
                {[](BlendParameters& p) { --p.input.size; },
                 [](BlendParameters& p) { --p.first.size; },
                 [](BlendParameters& p) { --p.share.size; },
                 [](BlendParameters& p) { --p.output.size; },
                 [](BlendParameters& p) { p.input.size = -8; },
                 [](BlendParameters& p) { p.outer = -1; },
                 [](BlendParameters& p) { p.outer = INT32_MAX; },
                 [](BlendParameters& p) { p.size = 0; },
                 [](BlendParameters& p) { p.size = INT32_MAX; },
                 [](BlendParameters& p) { p.count = 0; },
                 [](BlendParameters& p) { p.count = INT32_MAX; },
                 [](BlendParameters& p) { p.inner = 0; },
                 [](BlendParameters& p) { p.inner = INT32_MAX; },
                 [](BlendParameters& p) { p.first_row = -1; },
                 [](BlendParameters& p) { p.first_row = 7; },
                 [](BlendParameters& p) { p.row_count = -1; }},
                refuse);
  for (const int32_t wrong : {-1, 2, INT32_MAX, INT32_MIN}) {
    first[3] = wrong;
    refuse(good);
  }
  first[3] = 0;
  ASSERT_EQ(CallBlend(good), 0);
  EXPECT_EQ(std::vector<float>(output, output + 13),
            (std::vector<float>{0, 2, 3, 3, 4, 1, 2, 6, 7, 7, 8, 5, 6}));
}

TEST(BlendImportTest, ComputesTheResultsOfItsTile) {
  const float input[4] = {1, 3, 5, 9};
  const int32_t first[3] = {0, 0, 1};
  const float share[3] = {0, .5f, 0};
  float output[6] = {};
  ASSERT_EQ(CallBlend({{input, 0, 4},
                       {first, 0, 3},
                       {share, 0, 3},
                       {output, 0, 6},
                       2,
                       2,
                       3,
                       1,
                       0,
                       1,
                       3}),
            0);
  EXPECT_EQ(std::vector<float>(output, output + 6),
            (std::vector<float>{0, 2, 3, 5, 0, 0}));
}

}  // namespace
}  // namespace takt::cpu
