// Goal: discovery finds the clusters of boards that robots have.
// Method: tests/testdata/boards has what Linux shows below /sys of each, one
// file a line. These files are written into a directory and read from there.
#include "topology/sysfs_topology.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/board_files.h"
#include "topology/hwloc_topology.h"

namespace takt::topology {
namespace {

// "0-3@1800/1": CPUs, MHz and kind of each cluster.
std::vector<std::string> ClustersOf(const Topology& topology) {
  std::vector<std::string> result;
  for (const Cluster& cluster : topology.clusters) {
    result.push_back(cluster.cpus.ToString() + "@" +
                     std::to_string(cluster.max_frequency_mhz) + "/" +
                     std::to_string(cluster.efficiency_kind));
  }
  return result;
}

TEST(SysfsTopologyTest, CoresOfOneCacheAreDividedByKindAndClock) {
  EXPECT_THAT(ClustersOf(BoardFiles("rk3588").Discover()),
              testing::ElementsAre("0-3@1800/1", "4-5@2400/0", "6-7@2400/0"));
}

TEST(SysfsTopologyTest, AThirdLevelCacheIsACluster) {
  EXPECT_THAT(ClustersOf(BoardFiles("jetson_orin").Discover()),
              testing::ElementsAre("0-3@2201/0", "4-7@2201/0", "8-11@2201/0"));
  EXPECT_THAT(ClustersOf(BoardFiles("raspberry_pi5").Discover()),
              testing::ElementsAre("0-3@2400/0"));
}

TEST(SysfsTopologyTest, ASharedSecondLevelCacheIsACluster) {
  // One clock for all does not join them.
  EXPECT_THAT(ClustersOf(BoardFiles("spacemit_k1").Discover()),
              testing::ElementsAre("0-3@1600/0", "4-7@1600/0"));
}

TEST(SysfsTopologyTest, EveryCpuIsInOneCluster) {
  for (const char* name :
       {"rk3588", "jetson_orin", "raspberry_pi5", "spacemit_k1"}) {
    const BoardFiles board(name);
    const Topology topology = board.Discover();
    EXPECT_EQ(topology.cpu_set(), OnlineCpus(board.root())) << name;
    EXPECT_EQ(topology.core_count(), topology.cpus.size()) << name;
    for (const CpuInfo& cpu : topology.cpus) {
      EXPECT_TRUE(topology.clusters[cpu.cluster].cpus.Contains(cpu.os_index));
      EXPECT_EQ(cpu.smt_index, 0u);
    }
    // What is printed is a description of the board.
    const auto read = Topology::FromJson(topology.ToJson());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ClustersOf(*read), ClustersOf(topology)) << name;
  }
}

TEST(SysfsTopologyTest, OnlyUsableCpusCount) {
  const BoardFiles board("rk3588");
  Topology topology = ReadSysfs(board.root(), CpuSet::Parse("2,4,7").value());
  DivideClusters(board.root(), &topology);
  EXPECT_THAT(ClustersOf(topology),
              testing::ElementsAre("2@1800/1", "4@2400/0", "7@2400/0"));
}

TEST(SysfsTopologyTest, ThreadsOfACoreAreNumbered) {
  const BoardFiles board;
  const std::string cpus = "devices/system/cpu/";
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = cpus + "cpu" + std::to_string(cpu);
    board.Write(folder + "/topology/thread_siblings_list",
                cpu % 2 == 0 ? "0,2" : "1,3");
    board.Write(folder + "/topology/physical_package_id", "1");
  }
  board.Write("devices/system/node/online", "0-1");
  board.Write("devices/system/node/node1/cpulist", "2-3");
  board.Write(cpus + "isolated", "3");
  EXPECT_EQ(IsolatedCpus(board.root()).ToString(), "3");
  const Topology topology =
      ReadSysfs(board.root(), CpuSet::Parse("0-3").value());
  EXPECT_EQ(topology.core_count(), 2u);
  EXPECT_EQ(topology.FindCpu(0)->smt_index, 0u);
  EXPECT_EQ(topology.FindCpu(2)->smt_index, 1u);
  EXPECT_EQ(topology.FindCpu(2)->core, topology.FindCpu(0)->core);
  EXPECT_EQ(topology.FindCpu(1)->numa_node, 0u);
  EXPECT_EQ(topology.FindCpu(3)->numa_node, 1u);
  EXPECT_EQ(topology.FindCpu(3)->package, 1u);
}

TEST(SysfsTopologyTest, WithoutFilesAllAreOneCluster) {
  const BoardFiles board;
  Topology topology = ReadSysfs(board.root(), CpuSet::Parse("0-5").value());
  DivideClusters(board.root(), &topology);
  EXPECT_THAT(ClustersOf(topology), testing::ElementsAre("0-5@0/0"));
  EXPECT_TRUE(OnlineCpus(board.root()).empty());
}

TEST(SysfsTopologyTest, DamagedFilesGiveNoValue) {
  const BoardFiles board;
  const std::string cpu = "devices/system/cpu/cpu0/";
  board.Write(cpu + "cache/index0/level", "3");
  board.Write(cpu + "cache/index0/shared_cpu_list", "7-");
  board.Write(cpu + "topology/thread_siblings_list", "99999999");
  board.Write(cpu + "topology/physical_package_id", "-1");
  board.Write(cpu + "cpu_capacity", "much");
  board.Write(cpu + "cpufreq/affected_cpus", "0 x");
  Topology topology = ReadSysfs(board.root(), CpuSet::Parse("0-1").value());
  DivideClusters(board.root(), &topology);
  EXPECT_THAT(ClustersOf(topology), testing::ElementsAre("0-1@0/0"));
  EXPECT_EQ(topology.core_count(), 2u);
}

// hwloc reads this machine, so that is where both can be compared.
TEST(SysfsTopologyTest, ThisMachineIsAsHwlocSeesIt) {
  Topology theirs = ReadHwloc(AllowedCpus());
  if (theirs.cpus.empty()) GTEST_SKIP() << "there is no hwloc";
  Topology mine = ReadSysfs("/sys", AllowedCpus());
  DivideClusters("/sys", &theirs);
  DivideClusters("/sys", &mine);
  EXPECT_EQ(mine.core_count(), theirs.core_count());
  ASSERT_EQ(mine.clusters.size(), theirs.clusters.size());
  for (size_t i = 0; i < mine.clusters.size(); ++i) {
    EXPECT_EQ(mine.clusters[i].cpus, theirs.clusters[i].cpus);
  }
}

}  // namespace
}  // namespace takt::topology
