// Goal: the scheduler uses the clusters of real boards as they are.
// Method: the boards of tests/testdata/boards are discovered and simulated,
// with a detector that never pauses and a policy every 2 ms. A kernel takes as
// long on a cluster as its clock and kind suggest.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/test_support.h"
#include "tests/support/board_files.h"

namespace takt::sim {
namespace {

constexpr uint32_t kShardsMax = 4;

// What each kind of core does in a cycle, of what the fastest does.
double SpeedOf(const topology::Cluster& cluster) {
  constexpr double kOfSecondKind = 0.52;  // An A55, of an A76.
  return cluster.max_frequency_mhz *
         (cluster.efficiency_kind == 0 ? 1 : kOfSecondKind);
}

// Runs within one cluster, on up to four of its cores.
WorkloadKernel KernelFor(const topology::Topology& board, int64_t work_ns) {
  double fastest = 0;
  for (const topology::Cluster& cluster : board.clusters) {
    fastest = std::max(fastest, SpeedOf(cluster));
  }
  WorkloadKernel kernel;
  for (uint32_t pool = 0; pool < board.clusters.size(); ++pool) {
    const topology::Cluster& cluster = board.clusters[pool];
    const uint32_t shards_max = std::min(kShardsMax, cluster.cpus.count());
    for (uint32_t shards = 1; shards <= shards_max; shards *= 2) {
      sched::AlternativeOptions alternative;
      alternative.pool = pool;
      alternative.shards = shards;
      alternative.guess_ns = static_cast<int64_t>(
          static_cast<double>(work_ns) * fastest / SpeedOf(cluster) / shards);
      alternative.tile_ns = 50'000;
      kernel.alternatives.push_back(alternative);
    }
  }
  return kernel;
}

WorkloadStream* Add(Workload* workload, const topology::Topology& board,
                    const std::string& name, int64_t work_ns) {
  const auto index = static_cast<uint32_t>(workload->kernels.size());
  workload->kernels.push_back(KernelFor(board, work_ns));
  workload->kernels.back().name = name;
  workload->programs.push_back({name, {{index, {}}}});
  WorkloadStream stream;
  stream.name = name;
  stream.terms.program = index;
  workload->streams.push_back(stream);
  return &workload->streams.back();
}

Workload WorkloadFor(const topology::Topology& board, bool has_detector) {
  Workload workload;
  const auto machine = MachineOf(board);
  EXPECT_TRUE(machine.ok()) << machine.status();
  workload.machine = *machine;
  WorkloadStream* const policy = Add(&workload, board, "policy", kMs / 2);
  policy->terms.period_ns = 2 * kMs;
  policy->terms.deadline_ns = 2 * kMs;
  policy->terms.criticality = sched::Criticality::kHard;
  if (has_detector) {
    WorkloadStream* const detector =
        Add(&workload, board, "detector", 20 * kMs);
    detector->arrival = Arrival::kClosed;
    detector->terms.deadline_ns = kInfiniteFuture;
    detector->terms.criticality = sched::Criticality::kBestEffort;
  }
  return workload;
}

// The pools on which operations start, and whether all of their resources are
// of that pool.
class Starts final : public Observer {
 public:
  explicit Starts(const sched::Machine& machine) {
    uint32_t first = 0;
    for (const sched::Pool& pool : machine.pools) {
      sets_.push_back(sched::ResourceSet::Range(first, pool.count));
      first += pool.count;
    }
    counts.resize(sets_.size());
  }
  void OnDecision(int64_t, const sched::Decision& decision) override {
    if (decision.kind != sched::DecisionKind::kStart) return;
    ++counts[decision.pool];
    for (int32_t i = decision.resources.Next(0); i >= 0;
         i = decision.resources.Next(static_cast<uint32_t>(i) + 1)) {
      stays_in_pool = stays_in_pool &&
                      sets_[decision.pool].Contains(static_cast<uint32_t>(i));
    }
  }

  std::vector<int> counts;  // By pool.
  bool stays_in_pool = true;

 private:
  std::vector<sched::ResourceSet> sets_;
};

class BoardsTest : public testing::TestWithParam<const char*> {
 protected:
  topology::Topology board_ = topology::BoardFiles(GetParam()).Discover();
};

Report Play(const Workload& workload, Starts* starts) {
  SimulationOptions options;
  options.length_ns = 400 * kMs;
  options.observer = starts;
  const auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

TEST_P(BoardsTest, APoolIsACluster) {
  const auto machine = MachineOf(board_);
  ASSERT_TRUE(machine.ok()) << machine.status();
  ASSERT_EQ(machine->pools.size(), board_.clusters.size());
  for (size_t i = 0; i < machine->pools.size(); ++i) {
    EXPECT_EQ(machine->pools[i].count, board_.clusters[i].cpus.count());
  }
}

TEST_P(BoardsTest, AloneThePolicyStartsOnTheFastestCores) {
  const Workload workload = WorkloadFor(board_, /*has_detector=*/false);
  Starts starts(workload.machine);
  const Report report = Play(workload, &starts);
  EXPECT_EQ(report.streams[0].met, report.streams[0].released);
  for (size_t i = 0; i < board_.clusters.size(); ++i) {
    if (board_.clusters[i].efficiency_kind != 0) {
      EXPECT_EQ(starts.counts[i], 0) << board_.clusters[i].name;
    }
  }
}

TEST_P(BoardsTest, BesideADetectorThePolicyIsInTime) {
  const Workload workload = WorkloadFor(board_, /*has_detector=*/true);
  Starts starts(workload.machine);
  const Report report = Play(workload, &starts);
  EXPECT_GE(report.streams[0].released, 199u);
  EXPECT_EQ(report.streams[0].missed, 0u);
  EXPECT_GT(report.streams[1].met, 10u);
  EXPECT_TRUE(starts.stays_in_pool);
}

INSTANTIATE_TEST_SUITE_P(All, BoardsTest,
                         testing::Values("rk3588", "jetson_orin",
                                         "raspberry_pi5", "spacemit_k1"));

}  // namespace
}  // namespace takt::sim
