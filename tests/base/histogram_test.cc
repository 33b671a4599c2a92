#include "base/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(HistogramTest, AnEmptyHistogramHasQuantilesOfZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.Quantile(500), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 20; ++i) histogram.Add(i);
  EXPECT_EQ(histogram.Quantile(0), 1);
  EXPECT_EQ(histogram.Quantile(500), 10);
  EXPECT_EQ(histogram.Quantile(501), 11);
  EXPECT_EQ(histogram.Quantile(1000), 20);
}

TEST(HistogramTest, QuantilesAreWithinThreePercentAtAnyMagnitude) {
  for (int64_t value = 1; value < int64_t{1} << 45; value = value * 9 / 8 + 1) {
    Histogram histogram;
    histogram.Add(value);
    histogram.Add(int64_t{1} << 50);  // So that the maximum does not help.
    const int64_t told = histogram.Quantile(500);
    EXPECT_LE(std::abs(told - value), value * 33 / 1000) << value;
  }
}

TEST(HistogramTest, QuantilesAreThoseOfTheSortedValues) {
  std::mt19937_64 random(3);
  Histogram histogram;
  std::vector<int64_t> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<int64_t>(std::exp(random() % 20000 / 1000.0)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const uint32_t permille : {1u, 100u, 500u, 900u, 990u, 999u, 1000u}) {
    const auto exact = static_cast<double>(
        values[(values.size() * permille + 999) / 1000 - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(permille)), exact,
                exact * 0.04 + 1)
        << permille;
  }
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(HistogramTest, ExtremesHaveAPlace) {
  Histogram histogram;
  histogram.Add(-5);
  histogram.Add(INT64_MAX);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.Quantile(1), 0);
  EXPECT_EQ(histogram.max(), INT64_MAX);
  EXPECT_GT(histogram.Quantile(1000), int64_t{1} << 45);
}

}  // namespace
}  // namespace takt
