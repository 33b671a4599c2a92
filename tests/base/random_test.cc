#include "base/random.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace takt {
namespace {

// The published algorithms, worked in Python with integers of any size.
TEST(RandomTest, FollowsThePublishedSequence) {
  Random random(0);
  EXPECT_EQ(random.Next(), 11091344671253066420u);
  EXPECT_EQ(random.Next(), 13793997310169335082u);
  EXPECT_EQ(random.Next(), 1900383378846508768u);
  EXPECT_EQ(random.Next(), 7684712102626143532u);
}

TEST(RandomTest, SeedsDiffer) { EXPECT_NE(Random(1).Next(), Random(2).Next()); }

TEST(RandomTest, BelowStaysBelowAndReachesAll) {
  Random random(3);
  int counts[7] = {};
  for (int i = 0; i < 7'000; ++i) {
    const uint32_t value = random.Below(7);
    ASSERT_LT(value, 7u);
    ++counts[value];
  }
  // A fixed seed: each of the seven within a tenth of its share.
  for (const int count : counts) EXPECT_NEAR(count, 1'000, 100);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomTest, UnitStaysInItsInterval) {
  Random random(4);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.Unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

}  // namespace
}  // namespace takt
