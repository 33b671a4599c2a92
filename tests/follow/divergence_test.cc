#include "follow/divergence.h"

#include "gtest/gtest.h"

namespace takt::follow {
namespace {

TEST(DivergenceTest, IsEmptyAtFirst) {
  const Divergence divergence(2);
  EXPECT_EQ(divergence.starts(1).count, 0u);
  EXPECT_EQ(divergence.starts(1).q99, 0);
  EXPECT_EQ(divergence.late_starts().count(), 0u);
}

TEST(DivergenceTest, CountsEachOperation) {
  Divergence divergence(2);
  for (int64_t i = 1; i <= 100; ++i) divergence.Add(1, i - 11, 2 * i);
  EXPECT_EQ(divergence.starts(0).count, 0u);
  const DivergenceSummary starts = divergence.starts(1);
  EXPECT_EQ(starts.count, 100u);
  EXPECT_EQ(starts.min, -10);
  EXPECT_EQ(starts.max, 89);
  EXPECT_EQ(starts.q50, 39);
  EXPECT_EQ(starts.q99, 88);
  EXPECT_EQ(divergence.ends(1).q50, 100);
  // Early operations count as in time.
  EXPECT_EQ(divergence.late_starts().Quantile(100), 0);
  EXPECT_EQ(divergence.late_starts().max(), 89);
  EXPECT_EQ(divergence.late_ends().count(), 100u);
}

TEST(DivergenceTest, QuantilesForgetOldErrors) {
  Divergence divergence(1);
  divergence.Add(0, 5'000'000'000, -5'000'000'000);
  EXPECT_EQ(divergence.starts(0).q50, INT32_MAX);
  for (uint32_t i = 0; i < Divergence::kKept; ++i) divergence.Add(0, 7, -7);
  EXPECT_EQ(divergence.starts(0).q99, 7);
  EXPECT_EQ(divergence.starts(0).max, 5'000'000'000);
  EXPECT_EQ(divergence.ends(0).min, -5'000'000'000);
  EXPECT_EQ(divergence.ends(0).q50, -7);
}

}  // namespace
}  // namespace takt::follow
