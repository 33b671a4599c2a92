#include "shop/npu_registry.h"

#include "gtest/gtest.h"

namespace takt::shop {
namespace {

TEST(NpuRegistryTest, GivesThePoolOfARemovedNpuToOneLikeIt) {
  NpuRegistry npus;
  EXPECT_FALSE(npus.Reuse({"sim", false}).has_value());
  npus.Add({"sim", false}, 2);
  EXPECT_FALSE(npus.Reuse({"sim", false}).has_value());
  EXPECT_EQ(npus.gone_pools(), 0u);
  npus.Remove(2);
  EXPECT_EQ(npus.gone_pools(), 1u << 2);
  EXPECT_FALSE(npus.Reuse({"sim", true}).has_value());
  EXPECT_FALSE(npus.Reuse({"host", false}).has_value());
  EXPECT_EQ(npus.Reuse({"sim", false}), 2u);
  EXPECT_EQ(npus.gone_pools(), 0u);
}

TEST(NpuRegistryTest, NumbersPoolsOfOneName) {
  NpuRegistry npus;
  EXPECT_EQ(npus.NewPoolName("sim"), "sim");
  npus.Add({"sim", false}, 1);
  EXPECT_EQ(npus.NewPoolName("sim"), "sim 2");
  EXPECT_EQ(npus.NewPoolName("host"), "host");
  npus.Remove(1);
  EXPECT_EQ(npus.NewPoolName("sim"), "sim 2") << "the pool stays";
}

}  // namespace
}  // namespace takt::shop
