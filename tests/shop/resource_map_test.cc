// Machines of many clusters. The other tests of the job shop have the rest.
#include "shop/resource_map.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/shop/test_support.h"
#include "topology/topology.h"

namespace takt::shop {
namespace {

// Each cluster has one processor.
topology::Topology ClustersOf(uint32_t count) {
  topology::Topology topology;
  for (uint32_t i = 0; i < count; ++i) {
    topology::CpuInfo cpu;
    cpu.os_index = cpu.core = cpu.cluster = i;
    topology.cpus.push_back(cpu);
    topology.clusters.emplace_back();
    topology.clusters.back().name = "c" + std::to_string(i);
    topology.clusters.back().cpus.Add(i);
  }
  return topology;
}

ResourceMap MapOf(uint32_t cluster_count, const std::vector<NpuPlace>& npus) {
  const auto executor =
      Ref<ManualExecutor>::Adopt(new ManualExecutor(cluster_count));
  const topology::Topology topology = ClustersOf(cluster_count);
  return Value(ResourceMap::Create(*executor, &topology, true, npus));
}

TEST(ResourceMapTest, AClusterIsAPool) {
  const ResourceMap map = MapOf(sched::Machine::kMaxPools, {});
  EXPECT_EQ(map.machine().pools.size(), sched::Machine::kMaxPools);
  EXPECT_EQ(map.machine().pools[1].name, "c1");
  EXPECT_EQ(map.core_pools(), (1u << sched::Machine::kMaxPools) - 1);
  EXPECT_TRUE(map.cpus(1).Contains(1));
}

TEST(ResourceMapTest, MoreClustersThanPoolsAreOnePool) {
  for (const uint32_t count : {17u, 31u, 32u, 40u}) {
    const ResourceMap map = MapOf(count, {});
    ASSERT_EQ(map.machine().pools.size(), 1u);
    EXPECT_EQ(map.machine().resource_count(), count);
    EXPECT_EQ(map.core_pools(), 1u);
  }
  // NPUs need pools, too.
  const ResourceMap map = MapOf(sched::Machine::kMaxPools, {{"npu", false}});
  ASSERT_EQ(map.machine().pools.size(), 2u);
  EXPECT_EQ(map.machine().pools[1].name, "npu");
}

}  // namespace
}  // namespace takt::shop
