#include "cpu/gather_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct GatherParameters {
  ImportBuffer data, places, output;
  int32_t outer, size, inner, count;
  int32_t part, first_row, row_count;
};

template <typename T>
constexpr const char* kName = "takt_gather_f32";
template <>
constexpr const char* kName<int8_t> = "takt_gather_i8";

template <typename T>
int CallGather(GatherParameters parameters) {
  const ImportFunction import =
      *FindKernelImport(kName<T>, kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

template <typename T>
class GatherImportTest : public testing::Test {};
using Elements = testing::Types<float, int8_t>;
TYPED_TEST_SUITE(GatherImportTest, Elements);

TYPED_TEST(GatherImportTest, RefusesBuffersThatAreTooSmall) {
  // Element 0 lies before the buffers.
  const TypeParam data[9] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
  const int32_t places[2] = {99, 1};
  TypeParam output[6] = {};
  const GatherParameters good = {
      {data, 1, 8}, {places, 1, 1}, {output, 1, 4}, 2, 2, 2, 1, 0, 1, 4};
  WithEachFault(good,
                {[](GatherParameters& p) { --p.data.size; },
                 [](GatherParameters& p) { --p.places.size; },
                 [](GatherParameters& p) { --p.output.size; },
                 [](GatherParameters& p) { p.data.size = -8; },
                 [](GatherParameters& p) { p.outer = 0; },
                 [](GatherParameters& p) { p.outer = INT32_MAX; },
                 [](GatherParameters& p) { p.size = 0; },
                 [](GatherParameters& p) { p.size = INT32_MAX; },
                 [](GatherParameters& p) { p.inner = 0; },
                 [](GatherParameters& p) { p.inner = INT32_MAX; },
                 [](GatherParameters& p) { p.count = 0; },
                 [](GatherParameters& p) { p.count = INT32_MAX; },
                 [](GatherParameters& p) { p.first_row = -1; },
                 [](GatherParameters& p) { p.first_row = 3; },
                 [](GatherParameters& p) { p.row_count = -1; }},
                [&](const GatherParameters& parameters) {
                  EXPECT_NE(CallGather<TypeParam>(parameters), 0);
                  for (const TypeParam x : output) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallGather<TypeParam>(good), 0);
  EXPECT_EQ(std::vector<TypeParam>(output, output + 6),
            (std::vector<TypeParam>{0, 0, 0, 7, 8, 0}));
}

}  // namespace
}  // namespace takt::cpu
