#include "base/stable_sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace takt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StableSortTest, EqualValuesStayInTheirOrder) {
  std::vector<std::pair<int, char>> values = {
      {2, 'a'}, {1, 'b'}, {2, 'c'}, {0, 'd'}, {1, 'e'}};
  StableSort(values,
             [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_THAT(values, ElementsAre(std::pair(0, 'd'), std::pair(1, 'b'),
                                  std::pair(1, 'e'), std::pair(2, 'a'),
                                  std::pair(2, 'c')));
}

TEST(StableSortTest, SortsAsTheStandardLibrary) {
  std::mt19937 random(7);
  for (int count = 0; count < 200; ++count) {
    std::vector<std::pair<int, int>> values;
    for (int i = 0; i < count; ++i) {
      values.emplace_back(static_cast<int>(random() % 20), i);
    }
    std::vector<std::pair<int, int>> expected = values;
    const auto is_after = [](const auto& a, const auto& b) {
      return a.first > b.first;
    };
    std::stable_sort(expected.begin(), expected.end(), is_after);
    StableSort(values, is_after);
    ASSERT_EQ(values, expected) << count;
  }
}

TEST(StableSortTest, MovesValues) {
  std::vector<std::unique_ptr<int>> values;
  for (const int value : {3, 1, 2}) {
    values.push_back(std::make_unique<int>(value));
  }
  StableSort(values, [](const auto& a, const auto& b) { return *a < *b; });
  ASSERT_EQ(values.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*values[i], i + 1);
}

TEST(StableSortTest, OrderOfNothingIsEmpty) {
  EXPECT_THAT(StableOrder(0, [](size_t, size_t) { return true; }), IsEmpty());
}

}  // namespace
}  // namespace takt
