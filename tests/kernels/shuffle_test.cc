#include "kernels/shuffle.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

// Shuffles rows 1 to `rows` of numbers that are all different, or of all bytes
// in turns.
template <typename T>
void Check(const ShuffleShape& shape, int64_t rows) {
  const int64_t size = shape.groups * shape.each;
  std::vector<T> input, expected(static_cast<size_t>(size), T{77});
  for (int64_t i = 0; i < rows * size; ++i) {
    input.push_back(static_cast<T>(i % (sizeof(T) == 1 ? 127 : 1 << 20)));
  }
  for (int64_t row = 1; row < rows; ++row) {
    for (int64_t i = 0; i < shape.each; ++i) {
      for (int64_t group = 0; group < shape.groups; ++group) {
        expected.push_back(input[row * size + group * shape.each + i]);
      }
    }
  }
  expected.push_back(77);
  std::vector<T> output(expected.size(), T{77});
  Shuffle<T>(shape, input.data(), output.data(), 1, rows);
  EXPECT_EQ(output, expected) << shape.groups << " by " << shape.each;
}

TEST(ShuffleTest, TakesOneOfEachGroupInTurns) {
  for (const int64_t groups : {1, 2, 3, 4, 5, 8}) {
    for (const int64_t each : {1, 3, 4, 5, 8, 15, 16, 17, 33, 68}) {
      Check<float>({groups, each}, 4);
      Check<int8_t>({groups, each}, 4);
    }
  }
}

}  // namespace
}  // namespace takt::kernels
