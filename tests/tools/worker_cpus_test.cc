#include "tools/common/worker_cpus.h"

#include <filesystem>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

struct Releaser {
  void operator()(takt_topology_t* topology) const {
    takt_topology_release(topology);
  }
};
using Topology = std::unique_ptr<takt_topology_t, Releaser>;

Topology Parse(const char* json) {
  takt_topology_t* topology = nullptr;
  Status status(takt_topology_parse(json, &topology));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return Topology(topology);
}

// Two fast clusters with two threads a core, and a slow one.
Topology BigAndLittle() {
  return Parse(R"({"name": "board", "clusters": [
    {"name": "big0", "cpus": "0-3", "threads_per_core": 2},
    {"name": "big1", "cpus": "4-7", "threads_per_core": 2},
    {"name": "little", "cpus": "8-10", "efficiency_kind": 1,
     "max_frequency_mhz": 900}]})");
}

std::string Choose(const WorkerPlacement& placement) {
  const Topology board = BigAndLittle();
  const Result<std::string> cpus = ChooseWorkerCpus(placement, board.get(), "");
  return cpus.ok() ? *cpus : cpus.status().ToString();
}

TEST(WorkerCpusTest, NodesHaveCpus) {
  const std::string folder = ScratchPath("system");
  for (const char* node : {"node0", "node2", "node3"}) {
    std::filesystem::create_directories(folder + "/node/" + node);
  }
  WriteContents(folder + "/node/node0/cpulist", "0-3\n");
  WriteContents(folder + "/node/node2/cpulist", "4,6\n");
  WriteContents(folder + "/node/node3/cpulist", "\n");
  const auto choose = [&](const std::string& nodes) {
    return ChooseWorkerCpus({.nodes = nodes}, nullptr, folder);
  };
  EXPECT_EQ(*choose("all"), "");
  EXPECT_EQ(*choose("0"), "0-3");
  EXPECT_EQ(*choose("0,2,3"), "0-4,6");
  EXPECT_EQ(choose("1").status().code(), TAKT_STATUS_NOT_FOUND);
  EXPECT_EQ(choose("3").status().code(), TAKT_STATUS_NOT_FOUND);
  for (const char* text : {"", "zork", "0,", "-1"}) {
    EXPECT_EQ(choose(text).status().code(), TAKT_STATUS_INVALID_ARGUMENT)
        << text;
  }
}

TEST(WorkerCpusTest, LevelsAreKindsOfCores) {
  EXPECT_EQ(Choose({.performance_level = "high"}), "0-7");
  EXPECT_EQ(Choose({.performance_level = "performance"}), "0-7");
  EXPECT_EQ(Choose({.performance_level = "low"}), "8-10");
  EXPECT_EQ(Choose({.performance_level = "efficiency"}), "8-10");
}

TEST(WorkerCpusTest, PhysicalCoresHaveOneWorkerEach) {
  EXPECT_EQ(Choose({.mode = "physical_cores"}), "0,2,4,6,8-10");
}

TEST(WorkerCpusTest, SiblingsOfThisMachineComeFromTheKernel) {
  const std::string folder = ScratchPath("siblings");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string place =
        folder + "/cpu/cpu" + std::to_string(cpu) + "/topology";
    std::filesystem::create_directories(place);
    WriteContents(place + "/thread_siblings_list", cpu % 2 ? "1,3\n" : "0,2\n");
  }
  const Topology machine =
      Parse(R"({"clusters": [{"cpus": "0-3", "threads_per_core": 2}]})");
  EXPECT_EQ(
      *ChooseWorkerCpus({.mode = "physical_cores"}, machine.get(), folder),
      "0-1");
}

TEST(WorkerCpusTest, DistributionSaysWhichAreLeft) {
  EXPECT_EQ(Choose({.distribution = "compact", .count_max = 3}), "0-2");
  EXPECT_EQ(Choose({.mode = "physical_cores", .count_max = 3}), "0,4,8");
}

TEST(WorkerCpusTest, FavorComesFirst) {
  EXPECT_EQ(
      Choose({.performance_level = "low", .favor = "latency", .count_max = 2}),
      "0-1");
  EXPECT_EQ(
      Choose(
          {.distribution = "compact", .favor = "throughput", .count_max = 3}),
      "0,4,8");
  EXPECT_EQ(Choose({.favor = "efficiency"}), "8-10");
}

TEST(WorkerCpusTest, NoCpuOfALevelIsAnError) {
  const std::string folder = ScratchPath("empty");
  std::filesystem::create_directories(folder + "/node/node0");
  WriteContents(folder + "/node/node0/cpulist", "0-3\n");
  const Topology board = BigAndLittle();
  const Result<std::string> cpus = ChooseWorkerCpus(
      {.nodes = "0", .performance_level = "low"}, board.get(), folder);
  EXPECT_EQ(cpus.status().code(), TAKT_STATUS_NOT_FOUND);
  EXPECT_THAT(cpus.status().ToString(), HasSubstr("low"));
}

TEST(WorkerCpusTest, AMachineIsDescribed) {
  const Topology board = BigAndLittle();
  EXPECT_EQ(*DescribeTopology(board.get()),
            "board\n"
            "  big0: CPUs 0-3, kind 0\n"
            "  big1: CPUs 4-7, kind 0\n"
            "  little: CPUs 8-10, kind 1, 900 MHz\n");
}

TEST(WorkerCpusTest, TheToolPrintsWhereWorkersRun) {
  const ToolResult result =
      RunProcess("takt-run-module",
                 {"--dump_task_topologies", "--task_topology_favor=latency",
                  "--task_topology_max_group_count=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n  worker 0: CPUs 0x"));
}

}  // namespace
}  // namespace takt::tools
