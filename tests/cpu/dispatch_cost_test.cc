#include "cpu/dispatch_cost.h"

#include <limits>
#include <map>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(WorkgroupCostTest, MovesTowardsWhatIsMeasured) {
  WorkgroupCost cost;
  EXPECT_EQ(cost.mean_ns(), 0);
  cost.Add(800, 1);
  EXPECT_EQ(cost.mean_ns(), 800);
  for (int i = 0; i < 100; ++i) cost.Add(1600, 1);
  EXPECT_GT(cost.mean_ns(), 1550);
  EXPECT_LE(cost.mean_ns(), 1600);
  EXPECT_EQ(cost.sample_count(), 101u);
}

TEST(WorkgroupCostTest, AnOperationOfNoDurationIsKnown) {
  WorkgroupCost cost;
  cost.Add(0, 100);
  EXPECT_EQ(cost.mean_ns(), 1);
  cost.Add(5, 0);  // No division by zero.
  EXPECT_GT(cost.mean_ns(), 0);
}

TEST(WorkgroupCostTest, OneInterruptedRunDoesNotChangeMuch) {
  WorkgroupCost cost;
  for (int i = 0; i < 20; ++i) cost.Add(4'000, 1);
  cost.Add(4'000'000, 1);  // Another thread had the processor.
  EXPECT_LT(cost.mean_ns(), 3 * 4'000);
  for (int i = 0; i < 30; ++i) cost.Add(4'000, 1);
  EXPECT_LT(cost.mean_ns(), 4'300);
  // A lasting change is followed all the same.
  for (int i = 0; i < 60; ++i) cost.Add(4'000'000, 1);
  EXPECT_GT(cost.mean_ns(), 3'900'000);
  for (int i = 0; i < 1000; ++i) {
    cost.Add(std::numeric_limits<int64_t>::max(), 1);
  }
  EXPECT_GT(cost.mean_ns(), 0);  // No overflow.
}

TEST(DispatchCostTest, EitherKindStandsInForTheOther) {
  DispatchCost cost;
  EXPECT_EQ(cost.AloneNs(), 0);
  cost.shared.Add(300, 1);
  EXPECT_EQ(cost.AloneNs(), 300);
  cost.alone.Add(200, 1);
  EXPECT_EQ(cost.AloneNs(), 200);
  EXPECT_EQ(cost.SharedNs(), 300);
}

TEST(DispatchCostsTest, GridsAreApart) {
  DispatchCosts costs;
  costs.Find({4, 1, 1}).alone.Add(100, 1);
  costs.Find({1, 4, 1}).alone.Add(200, 1);
  costs.Find({1, 1, 4}).alone.Add(300, 1);
  EXPECT_EQ(costs.Find({4, 1, 1}).AloneNs(), 100);
  EXPECT_EQ(costs.Find({1, 4, 1}).AloneNs(), 200);
  EXPECT_EQ(costs.Find({1, 1, 4}).AloneNs(), 300);
  EXPECT_EQ(costs.Find({0, 0, 0}).AloneNs(), 0);
}

TEST(DispatchCostsTest, ManyGridsShareTheLast) {
  DispatchCosts costs;
  const uint32_t count = DispatchCosts::kGridCountMax;
  for (uint32_t i = 1; i <= count + 5; ++i) {
    costs.Find({i, 1, 1}).alone.Add(100 * i, 1);
  }
  std::map<uint32_t, uint64_t> samples;
  costs.ForEach([&](const DispatchCosts::Grid& grid, const DispatchCost& cost) {
    samples[grid[0]] = cost.alone.sample_count();
  });
  EXPECT_EQ(samples.size(), count + 1);
  EXPECT_EQ(samples[count], 1u);
  EXPECT_EQ(samples[0], 5u);
  EXPECT_EQ(&costs.Find({1, 0x10000, 1}), &costs.Find({0, 0, 0}));
}

}  // namespace
}  // namespace takt::cpu
