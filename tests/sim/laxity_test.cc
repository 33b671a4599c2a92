// Goal: the policy laxity meets deadlines that the order of deadlines misses on
// several cores, and its two levels keep jobs from preempting each other to and
// fro.
#include <cstdint>
#include <string>

#include "base/random.h"
#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/small_workload.h"

namespace takt::sim {
namespace {

void Add(Workload* workload, int64_t work_ns, int64_t period_ns,
         int64_t deadline_ns) {
  const auto index = static_cast<uint32_t>(workload->streams.size());
  const std::string name = "s" + std::to_string(index);
  workload->kernels.push_back(KernelOf(name, work_ns, 1));
  workload->programs.push_back({name, {{index, {}}}});
  WorkloadStream stream;
  stream.name = name;
  stream.terms.program = index;
  stream.terms.criticality = sched::Criticality::kHard;
  stream.terms.period_ns = period_ns;
  stream.terms.deadline_ns = deadline_ns;
  workload->streams.push_back(stream);
}

Workload LaxityCores(uint32_t count) {
  Workload workload;
  workload.name = "laxity";
  workload.machine.pools = {
      {"cores", sched::ResourceKind::kCore, count, -1, 0}};
  return workload;
}

Report Play(const Workload& workload, const char* policy,
            Observer* observer = nullptr) {
  SimulationOptions options;
  options.scheduler.policy = sched::FindPolicy(policy);
  options.length_ns = 200'000'000;
  options.observer = observer;
  auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

// Two short jobs are due first, but the long one has less time to spare.
TEST(LaxityTest, ALongJobDoesNotWaitForShortOnes) {
  Workload workload = LaxityCores(2);
  Add(&workload, 2'000'000, 20'000'000, 9'000'000);
  Add(&workload, 2'000'000, 20'000'000, 9'000'000);
  Add(&workload, 9'000'000, 20'000'000, 10'000'000);
  EXPECT_EQ(Play(workload, "job-shop").MissCount(sched::Criticality::kHard),
            10u);
  EXPECT_EQ(Play(workload, "laxity").MissCount(sched::Criticality::kHard), 0u);
}

class Counter final : public Observer {
 public:
  void OnDecision(int64_t, const sched::Decision& decision) override {
    if (decision.kind == sched::DecisionKind::kYield) ++yields;
    if (decision.kind == sched::DecisionKind::kStart &&
        decision.done_ppm == 0) {
      ++operations;
    }
  }
  uint64_t yields = 0;
  uint64_t operations = 0;
};

// An operation preempts when it becomes ready and when it becomes critical,
// and never again, whatever the load. (A pure order by laxity would do so at
// each tile.)
TEST(LaxityTest, JobsDoNotThrash) {
  uint64_t yields = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Workload workload = LaxityCores(1);
    const uint32_t streams = 2 + random.Below(5);
    for (uint32_t i = 0; i < streams; ++i) {
      const int64_t period_ns = 4'000'000 + random.Below(20'000'000);
      Add(&workload, 200'000 + random.Below(6'000'000), period_ns,
          period_ns / 2 + random.Below(20'000'000));
      workload.streams.back().offset_ns = random.Below(5'000'000);
    }
    Counter counter;
    Play(workload, "laxity", &counter);
    EXPECT_LE(counter.yields, 2 * counter.operations) << "seed " << seed;
    yields += counter.yields;
  }
  EXPECT_GT(yields, 300u);
}

}  // namespace
}  // namespace takt::sim
