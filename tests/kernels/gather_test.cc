#include "kernels/gather.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<int8_t>;
using Places = std::vector<int32_t>;

// In tiles of `rows` rows.
template <typename T>
std::vector<T> Take(const GatherShape& shape, const std::vector<T>& data,
                    const Places& places, int64_t rows) {
  const int64_t all = shape.outer * shape.count;
  const size_t bytes = static_cast<size_t>(all * shape.row_bytes);
  std::vector<T> output(bytes / sizeof(T) + 1, T{-7});
  for (int64_t row = 0; row < all; row += rows) {
    Gather(shape, {data.data(), places.data(), output.data()}, row,
           row + rows < all ? row + rows : all);
  }
  EXPECT_EQ(output.back(), -7);
  output.pop_back();
  return output;
}

TEST(GatherTest, TakesRowsOfEachOuterElement) {
  const Floats data = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
  const Floats expected = {5, 6, 1, 2, 5, 6, 15, 16, 11, 12, 15, 16};
  for (int64_t rows = 1; rows <= 6; ++rows) {
    EXPECT_EQ(Take({2, 3, 8, 3}, data, {2, 0, -1}, rows), expected);
    EXPECT_EQ(
        Take({2, 3, 2, 3}, Bytes(data.begin(), data.end()), {2, 0, -1}, rows),
        Bytes(expected.begin(), expected.end()));
  }
}

TEST(GatherTest, PlacesOutsideAreTheNearest) {
  EXPECT_EQ(
      Take({1, 3, 4, 5}, Floats{1, 2, 3}, {3, -4, INT32_MAX, INT32_MIN, 1}, 5),
      (Floats{3, 1, 3, 1, 2}));
}

}  // namespace
}  // namespace takt::kernels
