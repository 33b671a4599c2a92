#include "sched/resource_set.h"

#include <vector>

#include "gtest/gtest.h"

namespace takt::sched {
namespace {

TEST(ResourceSetTest, IsEmptyAtFirst) {
  const ResourceSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.count(), 0u);
  EXPECT_EQ(set.Next(0), -1);
}

TEST(ResourceSetTest, HoldsTheFirstAndTheLast) {
  ResourceSet set;
  set.Add(0);
  set.Add(255);
  EXPECT_TRUE(set.Contains(0));
  EXPECT_TRUE(set.Contains(255));
  EXPECT_FALSE(set.Contains(128));
  EXPECT_EQ(set.Next(1), 255);
  std::vector<uint32_t> members;
  set.ForEach([&](uint32_t index) { members.push_back(index); });
  EXPECT_EQ(members, (std::vector<uint32_t>{0, 255}));
  set.Remove(255);
  EXPECT_EQ(set.Next(1), -1);
}

TEST(ResourceSetTest, RangesCrossWords) {
  const ResourceSet set = ResourceSet::Range(60, 10);
  EXPECT_EQ(set.count(), 10u);
  EXPECT_FALSE(set.Contains(59));
  EXPECT_TRUE(set.Contains(63));
  EXPECT_TRUE(set.Contains(64));
  EXPECT_FALSE(set.Contains(70));
  EXPECT_EQ(ResourceSet::All().count(), 256u);
}

TEST(ResourceSetTest, HasTheOperationsOfSets) {
  const ResourceSet a = ResourceSet::Range(0, 4);
  const ResourceSet b = ResourceSet::Range(2, 4);
  EXPECT_EQ((a & b), ResourceSet::Range(2, 2));
  EXPECT_EQ((a | b), ResourceSet::Range(0, 6));
  EXPECT_EQ((a - b), ResourceSet::Range(0, 2));
  EXPECT_TRUE(a.Intersects(b));
  EXPECT_FALSE(a.Intersects(ResourceSet::Range(4, 1)));
  EXPECT_TRUE(ResourceSet::Range(1, 2).IsSubsetOf(a));
  EXPECT_FALSE(b.IsSubsetOf(a));
}

TEST(ResourceSetTest, LowestTakesNoMoreThanThereAre) {
  const ResourceSet set = ResourceSet::Range(3, 3);
  EXPECT_EQ(set.Lowest(2), ResourceSet::Range(3, 2));
  EXPECT_EQ(set.Lowest(9), set);
  EXPECT_TRUE(set.Lowest(0).empty());
}

}  // namespace
}  // namespace takt::sched
