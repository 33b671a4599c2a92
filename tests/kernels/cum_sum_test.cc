#include "kernels/cum_sum.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

std::vector<float> AddUp(const CumSumShape& shape,
                         const std::vector<float>& numbers, int64_t columns) {
  std::vector<float> sums(numbers.size(), -7);
  AddUpColumns(shape, numbers.data(), columns, sums.data());
  return sums;
}

TEST(CumSumTest, FromEitherEndWithAndWithoutTheNumberItself) {
  const std::vector<float> numbers = {1, 10, 2, 20, 3, 30};
  using Sums = std::vector<float>;
  EXPECT_EQ(AddUp({3, 2, false, false}, numbers, 2),
            (Sums{1, 10, 3, 30, 6, 60}));
  EXPECT_EQ(AddUp({3, 2, true, false}, numbers, 2), (Sums{0, 0, 1, 10, 3, 30}));
  EXPECT_EQ(AddUp({3, 2, false, true}, numbers, 2),
            (Sums{6, 60, 5, 50, 3, 30}));
  EXPECT_EQ(AddUp({3, 2, true, true}, numbers, 2), (Sums{5, 50, 3, 30, 0, 0}));
  EXPECT_EQ(AddUp({1, 6, true, false}, numbers, 6), (Sums{0, 0, 0, 0, 0, 0}));
}

TEST(CumSumTest, WhatIsNoNumberStaysBehindItsPlace) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> sums =
      AddUp({4, 1, false, false}, {1, kInfinity, 2, -kInfinity}, 1);
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[1], kInfinity);
  EXPECT_EQ(sums[2], kInfinity);
  EXPECT_NE(sums[3], sums[3]);
}

TEST(CumSumTest, SomeColumnsOfMany) {
  std::mt19937 random(5);
  const int64_t count = 19, inner = 70;
  std::vector<float> numbers(count * inner);
  for (float& x : numbers) x = static_cast<float>(random() % 9);
  for (const int64_t columns : {1, 15, 16, 67}) {
    const std::vector<float> sums =
        AddUp({count, inner, false, false}, numbers, columns);
    for (int64_t i = 0; i < inner; ++i) {
      float sum = 0;
      for (int64_t row = 0; row < count; ++row) {
        sum += numbers[row * inner + i];
        EXPECT_EQ(sums[row * inner + i], i < columns ? sum : -7);
      }
    }
  }
}

}  // namespace
}  // namespace takt::kernels
