#include "kernels/scatter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

using Floats = std::vector<float>;
using Places = std::vector<int32_t>;

// Row by row of the output if `is_split`.
Floats Put(const ScatterShape& shape, const Floats& data, const Places& places,
           const Floats& updates, bool is_split = false) {
  Floats output(data.size() + 1, -7);
  const ScatterOperands operands = {data.data(), places.data(), updates.data(),
                                    output.data()};
  const int64_t rows = shape.outer * shape.size;
  for (int64_t row = 0; is_split && row < rows; ++row) {
    Scatter(shape, operands, row, row + 1);
  }
  if (!is_split) Scatter(shape, operands, 0, rows);
  EXPECT_EQ(output.back(), -7);
  output.pop_back();
  return output;
}

TEST(ScatterTest, TheLastUpdateOfAPlaceStays) {
  EXPECT_EQ(
      Put({1, 3, 2, 4, ScatterReduction::kNone, false}, {1, 2, 3, 4, 5, 6},
          {2, 0, 2, -3}, {10, 11, 12, 13, 14, 15, 16, 17}),
      (Floats{16, 17, 3, 4, 14, 15}));
}

TEST(ScatterTest, SumsHaveAllUpdates) {
  EXPECT_EQ(Put({1, 3, 1, 4, ScatterReduction::kSum, false}, {1, 2, 3},
                {2, 0, 2, -2}, {10, 20, 30, 40}),
            (Floats{21, 42, 43}));
}

TEST(ScatterTest, ExtremesKeepWhatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats found = Put({1, 3, 1, 4, ScatterReduction::kGreatest, false},
                           {nan, -2, 5}, {0, 1, 1, 2}, {7, nan, 3, 4});
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_TRUE(std::isnan(found[1]));
  EXPECT_EQ(found[2], 5);
}

TEST(ScatterTest, PlacesOutsideAreLeftOut) {
  EXPECT_EQ(Put({1, 2, 1, 4, ScatterReduction::kNone, false}, {1, 2},
                {2, -3, INT32_MAX, INT32_MIN}, {10, 20, 30, 40}),
            (Floats{1, 2}));
  EXPECT_EQ(Put({1, 2, 1, 0, ScatterReduction::kNone, false}, {1, 2}, {}, {}),
            (Floats{1, 2}));
}

TEST(ScatterTest, EachNumberHasAPlace) {
  EXPECT_EQ(Put({2, 2, 2, 1, ScatterReduction::kNone, true},
                {1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, -1, 0}, {10, 20, 30, 40}),
            (Floats{10, 2, 3, 20, 5, 40, 30, 8}));
}

float Reduced(ScatterReduction reduction, float number, float update) {
  switch (reduction) {
    case ScatterReduction::kNone:
      return update;
    case ScatterReduction::kSum:
      return number + update;
    case ScatterReduction::kProduct:
      return number * update;
    case ScatterReduction::kLeast:
      return std::min(number, update);
    case ScatterReduction::kGreatest:
      return std::max(number, update);
  }
  return 0;
}

TEST(ScatterTest, PartsAreTheSame) {
  std::mt19937 random(5);
  for (const bool is_wide : {false, true}) {
    for (int kind = 0; kind < kScatterReductionCount; ++kind) {
      const auto reduction = static_cast<ScatterReduction>(kind);
      const ScatterShape shape = {3, 7, 5, 20, reduction, is_wide};
      Floats data(3 * 7 * 5), updates(3 * 20 * 5);
      Places places(is_wide ? updates.size() : 20);
      for (float& x : data) x = static_cast<float>(random() % 100);
      for (float& x : updates) x = static_cast<float>(random() % 100);
      for (int32_t& x : places) x = static_cast<int32_t>(random() % 14) - 7;
      Floats wanted = data;
      for (int64_t o = 0; o < 3; ++o) {
        for (int64_t k = 0; k < 20; ++k) {
          for (int64_t i = 0; i < 5; ++i) {
            const int64_t number = (o * 20 + k) * 5 + i;
            const int64_t place = places[is_wide ? number : k];
            float& x = wanted[(o * 7 + (place + 7) % 7) * 5 + i];
            x = Reduced(reduction, x, updates[number]);
          }
        }
      }
      EXPECT_EQ(Put(shape, data, places, updates), wanted);
      EXPECT_EQ(Put(shape, data, places, updates, true), wanted);
    }
  }
}

}  // namespace
}  // namespace takt::kernels
