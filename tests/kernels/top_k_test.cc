#include "kernels/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

template <typename Number>
std::vector<int32_t> Find(const std::vector<Number>& row, int64_t most,
                          bool is_least) {
  std::vector<int32_t> places(most + 1, -7);
  FindTopK({static_cast<int64_t>(row.size()), most, is_least}, row.data(),
           places.data());
  EXPECT_EQ(places.back(), -7);
  places.pop_back();
  return places;
}

TEST(TopKTest, EqualNumbersKeepTheirOrder) {
  const std::vector<float> row = {1, 3, 2, 3, 0, 3, 0};
  EXPECT_EQ(Find(row, 4, false), (std::vector<int32_t>{1, 3, 5, 2}));
  EXPECT_EQ(Find(row, 3, true), (std::vector<int32_t>{4, 6, 0}));
  EXPECT_EQ(Find(row, 2, false), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(Find(row, 0, false), std::vector<int32_t>());
}

TEST(TopKTest, BothZerosAreEqual) {
  const std::vector<float> row = {-0.0F, 0, -1e-40F, 1e-40F, -0.0F};
  EXPECT_EQ(Find(row, 5, false), (std::vector<int32_t>{3, 0, 1, 4, 2}));
  EXPECT_EQ(Find(row, 5, true), (std::vector<int32_t>{2, 0, 1, 4, 3}));
}

TEST(TopKTest, IntegersOfAnySize) {
  const std::vector<int64_t> row = {
      3, INT64_MIN, (int64_t{1} << 53) + 1, INT64_MAX, int64_t{1} << 53, -3, 3};
  EXPECT_EQ(Find(row, 7, false), (std::vector<int32_t>{3, 2, 4, 0, 6, 5, 1}));
  EXPECT_EQ(Find(row, 6, true), (std::vector<int32_t>{1, 5, 0, 6, 4, 2}));
}

TEST(TopKTest, WhatIsNoNumberIsGreatest) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::vector<float> row = {1, kNan, kInfinite, -kInfinite, kNan};
  EXPECT_EQ(Find(row, 5, false), (std::vector<int32_t>{1, 4, 2, 0, 3}));
  EXPECT_EQ(Find(row, 5, true), (std::vector<int32_t>{3, 0, 2, 1, 4}));
}

TEST(TopKTest, AsAStableSortFindsThem) {
  std::mt19937 random(7);
  for (const int64_t count : {1, 2, 17, 300}) {
    for (const int64_t most : {int64_t{1}, (count + 1) / 2, count}) {
      for (const bool is_least : {false, true}) {
        std::vector<float> row(count);
        for (float& x : row) x = static_cast<float>(random() % 40);
        std::vector<int32_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
          return is_least ? row[a] < row[b] : row[a] > row[b];
        });
        order.resize(most);
        EXPECT_EQ(Find(row, most, is_least), order) << count << " " << most;
      }
    }
  }
}

}  // namespace
}  // namespace takt::kernels
