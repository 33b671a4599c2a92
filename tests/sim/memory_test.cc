// Goal: the scheduler learns how much operations slow each other down through
// the memory, and predicts durations better with that; where nothing slows
// anything down, it predicts them as well as without.
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/small_workload.h"
#include "topology/topology.h"

namespace takt::sim {
namespace {

// Two cores, a memory that gives as much as one copy draws, and two copies.
TEST(MemoryTest, SharesOfTheMemoryMakeRunsLonger) {
  Workload workload;
  workload.name = "copies";
  workload.machine.pools = {{"cores", sched::ResourceKind::kCore, 2, -1, 0}};
  workload.kernels = {KernelOf("copy", 1'000'000, 1)};
  workload.kernels[0].memory_gbps = 10;
  workload.kernels[0].memory_part = 0.5;
  workload.programs = {{"copy", {{0, {}}}}};
  WorkloadStream stream;
  stream.name = "copies";
  stream.terms.program = 0;
  stream.arrival = Arrival::kOnce;
  stream.count = 2;
  workload.streams = {stream};
  const auto makespan_ns = [&](double memory_gbps) {
    workload.memory_gbps = memory_gbps;
    SimulationOptions options;
    options.drains = true;
    return Simulate(workload, options)->makespan_ns;
  };
  EXPECT_EQ(makespan_ns(0), 1'000'000);
  EXPECT_EQ(makespan_ns(20), 1'000'000);
  EXPECT_NEAR(static_cast<double>(makespan_ns(10)), 1.5e6, 2);
  workload.streams[0].count = 1;
  EXPECT_EQ(makespan_ns(10), 1'000'000);
}

std::string TestData(const std::string& name) {
  std::ifstream stream(std::string(TAKT_TESTDATA_DIR) + "/" + name);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

class BoardTest : public testing::TestWithParam<uint64_t> {
 protected:
  static Workload Read(const std::string& name) {
    const auto topology = topology::Topology::FromJson(
        TestData("topology/two_clusters_npu.json"));
    const auto machine = MachineOf(*topology);
    auto workload = ReadWorkload(TestData("sched/" + name), *machine);
    EXPECT_TRUE(workload.ok()) << workload.status();
    return *std::move(workload);
  }
  static sched::PredictionErrors Errors(const Workload& workload) {
    SimulationOptions options;
    options.seed = GetParam();
    options.length_ns = 10'000'000'000;
    const auto report = Simulate(workload, options);
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_GT(report->predictions.run_count, 1000u);
    return report->predictions;
  }
};

TEST_P(BoardTest, PredictsWhatSharesTheMemory) {
  const sched::PredictionErrors errors = Errors(Read("memory.json"));
  EXPECT_LT(static_cast<double>(errors.error_ns),
            0.8 * static_cast<double>(errors.plain_error_ns));
}

TEST_P(BoardTest, PredictsAsWellWhereNothingDoes) {
  Workload workload = Read("memory.json");
  workload.memory_gbps = 0;
  const sched::PredictionErrors errors = Errors(workload);
  EXPECT_LT(static_cast<double>(errors.error_ns),
            1.03 * static_cast<double>(errors.plain_error_ns));
}

INSTANTIATE_TEST_SUITE_P(Seeds, BoardTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace takt::sim
