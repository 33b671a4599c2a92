#include "exec/lane_counters.h"

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

TEST(LaneCountersTest, SeesCountsOfLowerLanesOnly) {
  LaneCounters counters;
  EXPECT_FALSE(counters.HasBelow(kLaneCount - 1));
  counters.Add(3);
  counters.Add(3);
  EXPECT_FALSE(counters.HasBelow(0));
  EXPECT_FALSE(counters.HasBelow(3));
  EXPECT_TRUE(counters.HasBelow(4));
  counters.Remove(3);
  EXPECT_TRUE(counters.HasBelow(4));
  counters.Remove(3);
  EXPECT_FALSE(counters.HasBelow(kLaneCount - 1));
}

TEST(LaneCountersTest, CountsTheHighestLaneToo) {
  LaneCounters counters;
  counters.Add(kLaneCount - 1);
  EXPECT_FALSE(counters.HasBelow(kLaneCount - 1));
  counters.Remove(kLaneCount - 1);
  counters.Add(0);
  EXPECT_TRUE(counters.HasBelow(kLaneCount - 1));
  counters.Remove(0);
}

TEST(LaneCountersTest, SeesCountsOfTheLaneItself) {
  LaneCounters counters;
  EXPECT_FALSE(counters.HasUpTo(kLaneCount - 1));
  counters.Add(3);
  EXPECT_FALSE(counters.HasUpTo(2));
  EXPECT_TRUE(counters.HasUpTo(3));
  EXPECT_TRUE(counters.HasUpTo(kLaneCount - 1));
  counters.Remove(3);
  counters.Add(kLaneCount - 1);
  EXPECT_FALSE(counters.HasUpTo(kLaneCount - 2));
  EXPECT_TRUE(counters.HasUpTo(kLaneCount - 1));
}

}  // namespace
}  // namespace takt::exec
