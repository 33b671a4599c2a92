#include "shop/npu_registry.h"

#include <string>

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
  sched::Machine machine;
  const auto add = [&](const std::string& npu) {
    const std::string name = NewPoolName(machine, npu);
    machine.pools.push_back({name, sched::ResourceKind::kNpu, 1, -1, 0});
    return name;
  };
  EXPECT_EQ(add("sim"), "sim");
  EXPECT_EQ(add("sim"), "sim 2");
  EXPECT_EQ(add("host"), "host");
  EXPECT_EQ(add("sim"), "sim 3");
  EXPECT_EQ(add("host 2"), "host 2");
  EXPECT_EQ(add("host"), "host 3");
}

}  // namespace
}  // namespace takt::shop
