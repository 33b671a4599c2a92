#include "sched/machine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

TEST(MachineTest, NumbersResourcesByPool) {
  const Machine machine = TwoClustersAndNpu();
  ASSERT_TRUE(machine.Validate().ok());
  EXPECT_EQ(machine.resource_count(), 9u);
  EXPECT_EQ(machine.FirstOf(1), 4u);
  EXPECT_EQ(machine.ResourcesOf(1), ResourceSet::Range(4, 4));
  EXPECT_EQ(machine.PoolOf(3), 0u);
  EXPECT_EQ(machine.PoolOf(4), 1u);
  EXPECT_EQ(machine.PoolOf(8), 2u);
  EXPECT_EQ(machine.FindPool("npu"), 2);
  EXPECT_EQ(machine.FindPool("gpu"), -1);
}

TEST(MachineTest, RefusesNoPools) {
  EXPECT_THAT(std::string(Machine().Validate().message()),
              HasSubstr("1 to 16 pools"));
}

TEST(MachineTest, RefusesAnEmptyPool) {
  Machine machine = TwoClustersAndNpu();
  machine.pools[1].count = 0;
  EXPECT_THAT(std::string(machine.Validate().message()),
              HasSubstr("pool little is empty"));
}

TEST(MachineTest, RefusesTwoPoolsOfOneName) {
  Machine machine = TwoClustersAndNpu();
  machine.pools[1].name = "big";
  EXPECT_THAT(std::string(machine.Validate().message()),
              HasSubstr("second pool big"));
}

TEST(MachineTest, AllowsWhatPoolsAndAffinityHaveInCommon) {
  const Machine machine = TwoClustersAndNpu();
  EXPECT_TRUE(machine.Allowed(0b010, ResourceSet::All()) ==
              machine.ResourcesOf(1));
  EXPECT_TRUE(machine.Allowed(0b101, ResourceSet::All()) ==
              (machine.ResourcesOf(0) | machine.ResourcesOf(2)));
  const ResourceSet first = ResourceSet::Range(machine.FirstOf(1), 1);
  EXPECT_TRUE(machine.Allowed(0b011, first) == first);
  EXPECT_TRUE(machine.Allowed(0b001, first).empty());
  EXPECT_TRUE(machine.Allowed(0, ResourceSet::All()).empty());
}

TEST(MachineTest, RefusesTiesThatCannotBe) {
  for (const int32_t feeder : {-2, 2, 3, 99}) {
    Machine machine = TwoClustersAndNpu();
    machine.pools[2].feeder_pool = feeder;
    machine.pools[2].feeder_count = 1;
    EXPECT_FALSE(machine.Validate().ok()) << feeder;
  }
  Machine machine = TwoClustersAndNpu();
  machine.pools[2].feeder_count = 5;
  EXPECT_THAT(std::string(machine.Validate().message()),
              HasSubstr("takes 5 cores of big, which has 4"));
  machine = TwoClustersAndNpu();
  machine.pools[0].feeder_pool = 1;
  EXPECT_THAT(std::string(machine.Validate().message()),
              HasSubstr("only NPUs are tied"));
}

TEST(MachineTest, RefusesMoreResourcesThanASetHolds) {
  Machine machine = TwoClustersAndNpu();
  machine.pools[0].count = 0xffffffff;
  EXPECT_THAT(std::string(machine.Validate().message()),
              HasSubstr("at most 256 resources"));
}

}  // namespace
}  // namespace takt::sched
