// Goal: what admission promises is kept in the worst cases that its analysis
// has to count: work that never yields, operations that keep cores idle while
// they wait for others, and policies without preemption.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/simulation.h"

namespace takt::sim {
namespace {

// A board of cores, with an NPU that takes `feeders` of them with it.
Workload Board(uint32_t cores, uint32_t feeders) {
  Workload workload;
  workload.name = "promises";
  workload.machine.pools = {
      {"cores", sched::ResourceKind::kCore, cores, -1, 0}};
  if (feeders > 0) {
    workload.machine.pools.push_back(
        {"npu", sched::ResourceKind::kNpu, 1, 0, feeders});
  }
  return workload;
}

sched::AlternativeOptions Way(uint32_t pool, uint32_t shards, int64_t us,
                              int64_t tile_us) {
  sched::AlternativeOptions way;
  way.pool = pool;
  way.shards = shards;
  way.guess_ns = us * 1000;
  way.tile_ns = tile_us * 1000;
  return way;
}

// A stream whose jobs are one operation.
WorkloadStream& Add(Workload* workload, const std::string& name,
                    std::vector<sched::AlternativeOptions> ways) {
  const auto index = static_cast<uint32_t>(workload->streams.size());
  WorkloadKernel kernel;
  kernel.name = name;
  kernel.alternatives = std::move(ways);
  workload->kernels.push_back(std::move(kernel));
  workload->programs.push_back({name, {{index, {}}}});
  WorkloadStream stream;
  stream.name = name;
  stream.terms.program = index;
  stream.terms.criticality = sched::Criticality::kBestEffort;
  stream.arrival = Arrival::kClosed;
  workload->streams.push_back(stream);
  return workload->streams.back();
}

WorkloadStream& AddHard(Workload* workload, const std::string& name,
                        std::vector<sched::AlternativeOptions> ways,
                        int64_t deadline_ms) {
  WorkloadStream& stream = Add(workload, name, std::move(ways));
  stream.arrival = Arrival::kPeriodic;
  stream.asks_admission = true;
  stream.terms.criticality = sched::Criticality::kHard;
  stream.terms.period_ns = 200'000'000;
  stream.terms.deadline_ns = deadline_ms * 1'000'000;
  return stream;
}

// Returns how many streams were promised to fit.
uint32_t ExpectPromisesKept(const Workload& workload,
                            const char* policy = "job-shop") {
  SimulationOptions options;
  options.scheduler.policy = sched::FindPolicy(policy);
  options.length_ns = 1'000'000'000;
  const auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return 0;
  uint32_t promised = 0;
  for (const StreamReport& stream : report->streams) {
    if (!stream.asked || stream.admission.verdict != sched::Verdict::kWillFit) {
      continue;
    }
    ++promised;
    EXPECT_EQ(stream.missed + stream.dropped, 0u)
        << stream.name << ": " << stream.admission.reason << ", took "
        << stream.quantile_ns(1);
    EXPECT_LE(stream.quantile_ns(1), stream.admission.response_bound_ns)
        << stream.name;
  }
  return promised;
}

// Two streams keep the two cores busy by turns.
void AddBackground(Workload* workload) {
  Add(workload, "long", {Way(0, 1, 4000, 0)});
  Add(workload, "longer", {Way(0, 1, 4700, 0)});
}

TEST(PromisesTest, AnNpuGetsItsCoresBesideWorkThatNeverYields) {
  Workload workload = Board(2, 2);
  AddBackground(&workload);
  AddHard(&workload, "npu", {Way(1, 1, 1000, 0)}, 50).offset_ns = 1'500'000;
  EXPECT_EQ(ExpectPromisesKept(workload), 1u);
}

TEST(PromisesTest, APreferredNumberOfCoresIsCollected) {
  Workload workload = Board(2, 0);
  AddBackground(&workload);
  WorkloadStream& wide = AddHard(
      &workload, "wide", {Way(0, 1, 2000, 50), Way(0, 2, 1000, 50)}, 50);
  wide.terms.shards_preferred = 2;
  wide.offset_ns = 1'500'000;
  EXPECT_EQ(ExpectPromisesKept(workload), 1u);
}

TEST(PromisesTest, APreferredNumberThatDoesNotExistIsIgnored) {
  Workload workload = Board(2, 0);
  WorkloadStream& wide = AddHard(
      &workload, "wide", {Way(0, 1, 2000, 50), Way(0, 2, 1000, 50)}, 50);
  wide.terms.shards_preferred = 2;
  wide.terms.affinity.Remove(1);
  EXPECT_EQ(ExpectPromisesKept(workload), 1u);
}

// While `wide` waits for the core of `first`, the others are kept idle.
TEST(PromisesTest, CoresThatAreKeptIdleAreCounted) {
  Workload workload = Board(4, 0);
  AddHard(&workload, "first", {Way(0, 1, 10'000, 100)}, 50).terms.priority =
      200;
  WorkloadStream& wide = AddHard(&workload, "wide", {Way(0, 4, 1000, 100)}, 60);
  wide.terms.priority = 150;
  wide.offset_ns = 100'000;
  WorkloadStream& last = AddHard(&workload, "last", {Way(0, 1, 1000, 100)}, 8);
  last.terms.priority = 100;
  last.offset_ns = 200'000;
  EXPECT_EQ(ExpectPromisesKept(workload), 2u);
  // With time enough.
  workload.streams[2].terms.deadline_ns = 50'000'000;
  EXPECT_EQ(ExpectPromisesKept(workload), 3u);
}

TEST(PromisesTest, APolicyWithoutPreemptionBlocksForWholeOperations) {
  Workload workload = Board(1, 0);
  Add(&workload, "long", {Way(0, 1, 9000, 100)});
  AddHard(&workload, "short", {Way(0, 1, 1000, 100)}, 5).offset_ns = 1'500'000;
  EXPECT_EQ(ExpectPromisesKept(workload), 1u);
  EXPECT_EQ(ExpectPromisesKept(workload, "priority"), 0u);
  workload.streams[1].terms.deadline_ns = 50'000'000;
  EXPECT_EQ(ExpectPromisesKept(workload, "priority"), 1u);
}

TEST(PromisesTest, APolicyThatDoesNotPutPromisesFirstGivesNone) {
  Workload workload = Board(1, 0);
  for (int i = 0; i < 4; ++i) {
    Add(&workload, "long" + std::to_string(i), {Way(0, 1, 9000, 100)});
  }
  AddHard(&workload, "short", {Way(0, 1, 1000, 100)}, 30).offset_ns = 1'500'000;
  for (const char* policy :
       {"fifo", "edf", "least-slack", "shortest-latency", "heft"}) {
    EXPECT_EQ(ExpectPromisesKept(workload, policy), 0u) << policy;
  }
  EXPECT_EQ(ExpectPromisesKept(workload), 1u);
}

}  // namespace
}  // namespace takt::sim
