#include "exec/lane_mask.h"

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

TEST(LaneMaskTest, APriorityBelongsToOneOfEightLanes) {
  EXPECT_EQ(LaneOf(0), 0);
  EXPECT_EQ(LaneOf(31), 0);
  EXPECT_EQ(LaneOf(128), kNormalLane);
  EXPECT_EQ(LaneOf(255), kLaneCount - 1);
}

TEST(LaneMaskTest, ANewMaskIsEmpty) {
  const LaneMask mask;
  EXPECT_TRUE(mask.empty());
  EXPECT_FALSE(mask.HasAtLeast(0));
  EXPECT_FALSE(LaneMask::All().empty());
}

TEST(LaneMaskTest, RangesOfLanesHaveTheirBounds) {
  for (uint32_t bound = 0; bound < kLaneCount; ++bound) {
    for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
      EXPECT_EQ(LaneMask::AtLeast(bound).Contains(lane), lane >= bound);
      EXPECT_EQ(LaneMask::Above(bound).Contains(lane), lane > bound);
      EXPECT_EQ(LaneMask::Below(bound).Contains(lane), lane < bound);
      EXPECT_EQ(LaneMask::Only(bound).Contains(lane), lane == bound);
      EXPECT_EQ(LaneMask::Only(lane).HasAtLeast(bound), lane >= bound);
      EXPECT_EQ(LaneMask::Only(lane).HasAbove(bound), lane > bound);
    }
  }
  EXPECT_TRUE(LaneMask::AtLeast(kLaneCount).empty());
  EXPECT_TRUE(LaneMask::Above(kLaneCount - 1).empty());
  EXPECT_EQ(LaneMask::Below(kLaneCount), LaneMask::All());
}

TEST(LaneMaskTest, HighestIsTheMostUrgentLane) {
  LaneMask mask = LaneMask::Only(1).With(6).With(4);
  EXPECT_EQ(mask.Highest(), 6u);
  mask = mask.Without(6u);
  EXPECT_EQ(mask.Highest(), 4u);
  EXPECT_EQ(mask.Without(LaneMask::AtLeast(4)), LaneMask::Only(1));
}

TEST(LaneMaskTest, ARequestToLeaveIsAboveAllLanesAndNoneOfThem) {
  const LaneMask leave = LaneMask::LeaveRequest();
  EXPECT_FALSE(leave.Intersects(LaneMask::All()));
  EXPECT_TRUE(leave.HasAbove(kLaneCount - 1));
  EXPECT_TRUE(leave.HasAtLeast(0));
  EXPECT_TRUE((leave | LaneMask::Only(2)).Intersects(LaneMask::Above(1)));
}

TEST(AtomicLaneMaskTest, AddsAndRemovesLanes) {
  AtomicLaneMask mask;
  EXPECT_TRUE(mask.Read(kRelaxed).empty());
  mask.Add(3);
  mask.Add(3);
  mask.AddAll(LaneMask::AtLeast(6));
  EXPECT_EQ(mask.Read(kRelaxed), LaneMask::AtLeast(6).With(3));
  mask.RemoveAll(LaneMask::Only(7).With(1));
  EXPECT_EQ(mask.Read(kRelaxed), LaneMask::Only(3).With(6));
  mask.Write(LaneMask::Only(2));
  EXPECT_EQ(mask.Read(kRelaxed), LaneMask::Only(2));
}

}  // namespace
}  // namespace takt::exec
