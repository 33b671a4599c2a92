#include "kernels/map_i8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(MapI8Test, LooksUpEachByteAndWritesNothingElse) {
  std::vector<int8_t> table(kMapI8Size);
  for (int i = 0; i < kMapI8Size; ++i) {
    table[i] = static_cast<int8_t>(167 * i + 13);
  }
  constexpr int kMax = 400;
  std::vector<int8_t> input(kMax);
  for (int i = 0; i < kMax; ++i) input[i] = static_cast<int8_t>(i - 128);
  for (const KernelTable& kernels : RunnableKernels()) {
    for (int count : {0, 1, 63, 64, 65, 127, 256, 400}) {
      std::vector<int8_t> output(kMax + 1, 99);
      kernels.map_i8->map(table.data(), input.data(), count, output.data());
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(output[i], table[input[i] + 128]) << i << " of " << count;
      }
      for (int i = count; i <= kMax; ++i) ASSERT_EQ(output[i], 99) << i;
    }
  }
}

TEST(MapI8Test, MapsInPlace) {
  std::vector<int8_t> table(kMapI8Size);
  for (int i = 0; i < kMapI8Size; ++i) table[i] = static_cast<int8_t>(127 - i);
  for (const KernelTable& kernels : RunnableKernels()) {
    std::vector<int8_t> data(100, -128);
    kernels.map_i8->map(table.data(), data.data(), 100, data.data());
    EXPECT_EQ(data, std::vector<int8_t>(100, 127));
  }
}

}  // namespace
}  // namespace takt::kernels
