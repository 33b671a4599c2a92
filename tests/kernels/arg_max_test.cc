#include "kernels/arg_max.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

std::vector<int32_t> Find(const ArgMaxShape& shape,
                          const std::vector<float>& numbers, int64_t columns) {
  std::vector<int32_t> places(columns + 1, -7);
  FindArgMax(shape, numbers.data(), columns, places.data());
  EXPECT_EQ(places.back(), -7);
  places.pop_back();
  return places;
}

TEST(ArgMaxTest, TheFirstOrTheLastOfEqualNumbers) {
  const std::vector<float> numbers = {1, 4, 3, 2, 3, 4, 1, 2};
  EXPECT_EQ(Find({4, 2, false, false}, numbers, 2),
            (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(Find({4, 2, false, true}, numbers, 2),
            (std::vector<int32_t>{2, 2}));
  EXPECT_EQ(Find({4, 2, true, false}, numbers, 2),
            (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(Find({4, 2, true, true}, numbers, 2), (std::vector<int32_t>{3, 3}));
  EXPECT_EQ(Find({1, 2, false, false}, numbers, 1), (std::vector<int32_t>{0}));
}

TEST(ArgMaxTest, WhatIsNoNumberIsNotTheGreatest) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Find({3, 1, false, false}, {1, kNan, 2}, 1),
            (std::vector<int32_t>{2}));
  EXPECT_EQ(Find({3, 1, false, false}, {kNan, 1, 2}, 1),
            (std::vector<int32_t>{0}));
}

TEST(ArgMaxTest, ManyColumns) {
  std::mt19937 random(5);
  for (const int64_t inner : {63, 64, 65, 200}) {
    const int64_t count = 19;
    std::vector<float> numbers(count * inner);
    for (float& x : numbers) x = static_cast<float>(random() % 9);
    std::vector<int32_t> wanted(inner);
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t row = 1; row < count; ++row) {
        if (numbers[row * inner + i] > numbers[wanted[i] * inner + i]) {
          wanted[i] = static_cast<int32_t>(row);
        }
      }
    }
    EXPECT_EQ(Find({count, inner, false, false}, numbers, inner), wanted);
  }
}

}  // namespace
}  // namespace takt::kernels
