#include "sched/duration_estimate.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

TEST(DurationEstimateTest, AGuessIsNotMeasured) {
  const DurationEstimate estimate = DurationEstimate::Guess(500);
  EXPECT_EQ(estimate.q50_ns(), 500);
  EXPECT_EQ(estimate.q99_ns(), 500);
  EXPECT_EQ(estimate.count(), 0u);
  EXPECT_FALSE(estimate.measured());
}

TEST(DurationEstimateTest, TheFirstSampleReplacesTheGuess) {
  DurationEstimate estimate = DurationEstimate::Guess(500);
  estimate.Observe(90'000);
  EXPECT_EQ(estimate.q50_ns(), 90'000);
  EXPECT_TRUE(estimate.measured());
}

TEST(DurationEstimateTest, EqualSamplesLeaveItExact) {
  DurationEstimate estimate;
  for (int i = 0; i < 1000; ++i) estimate.Observe(12'345);
  EXPECT_EQ(estimate.q50_ns(), 12'345);
  EXPECT_EQ(estimate.q90_ns(), 12'345);
  EXPECT_EQ(estimate.q99_ns(), 12'345);
  EXPECT_EQ(estimate.count(), 1000u);
}

// Uniform in [1 ms, 2 ms): quantiles 1.5, 1.9 and 1.99 ms.
TEST(DurationEstimateTest, FindsTheQuantilesOfADistribution) {
  Random random(7);
  DurationEstimate estimate;
  double sums[3] = {};
  for (int i = 0; i < 20'000; ++i) {
    estimate.Observe(1'000'000 + random.Below(1'000'000));
    if (i < 10'000) continue;
    sums[0] += static_cast<double>(estimate.q50_ns()) / 10'000;
    sums[1] += static_cast<double>(estimate.q90_ns()) / 10'000;
    sums[2] += static_cast<double>(estimate.q99_ns()) / 10'000;
  }
  EXPECT_NEAR(sums[0], 1.50e6, 0.03e6);
  EXPECT_NEAR(sums[1], 1.90e6, 0.03e6);
  EXPECT_NEAR(sums[2], 1.99e6, 0.03e6);
}

TEST(DurationEstimateTest, OutliersMoveItByAStepOnly) {
  DurationEstimate estimate;
  for (int i = 0; i < 100; ++i) estimate.Observe(1'000'000);
  estimate.Observe(3'600'000'000'000);  // An hour.
  EXPECT_LE(estimate.q50_ns(), 1'010'000);
  EXPECT_LE(estimate.q99_ns(), 1'020'000);
}

TEST(DurationEstimateTest, FollowsAChangeThatStays) {
  DurationEstimate estimate;
  for (int i = 0; i < 100'000; ++i) estimate.Observe(1'000'000);
  for (int i = 0; i < 8; ++i) estimate.Observe(3'000'000);
  EXPECT_NEAR(static_cast<double>(estimate.q50_ns()), 3e6, 1e3);
  for (int i = 0; i < 8; ++i) estimate.Observe(500'000);
  EXPECT_NEAR(static_cast<double>(estimate.q50_ns()), 0.5e6, 1e3);
}

TEST(DurationEstimateTest, QuantilesStayInOrder) {
  Random random(3);
  DurationEstimate estimate;
  for (int i = 0; i < 10'000; ++i) {
    estimate.Observe(random.Below(1u << random.Below(31)));
    ASSERT_LE(estimate.q50_ns(), estimate.q90_ns());
    ASSERT_LE(estimate.q90_ns(), estimate.q99_ns());
    ASSERT_GE(estimate.q50_ns(), 0);
  }
}

TEST(DurationEstimateTest, AbsurdSamplesAreClamped) {
  DurationEstimate estimate;
  estimate.Observe(INT64_MAX);
  EXPECT_EQ(estimate.q99_ns(), DurationEstimate::kMaxNs);
  for (int i = 0; i < 20; ++i) estimate.Observe(INT64_MAX);
  EXPECT_LE(estimate.q99_ns(), DurationEstimate::kMaxNs);
  DurationEstimate negative;
  negative.Observe(-5);
  EXPECT_EQ(negative.q50_ns(), 0);
}

}  // namespace
}  // namespace takt::sched
