// Goal: a core with a budget never runs for longer than its budgets allow, and
// gets them if it is asked to; the scheduler keeps its promises beside that.
// Method: random runs in virtual time, seen by a meter that shares no code with
// the board.
//
// TAKT_SIM_RUNS and TAKT_SIM_SEED: as in invariants_test.cc.
#include "sim/budgets.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/random_workload.h"
#include "tests/sim/small_workload.h"
#include "tests/sim/test_support.h"
#include "tests/sim/watcher.h"

namespace takt::sim {
namespace {

TEST(BudgetsTest, ACoreKeepsItsPartOfAPeriod) {
  Workload workload = SmallWorkload();
  workload.budgets = {{0, 4 * kMs, 10 * kMs}};
  Budgets budgets(workload);
  budgets.Begin(0, 0);
  budgets.Charge(0, kMs);
  // 3 ms are more than its part of the 4 ms that are left: a period begins.
  budgets.Begin(0, 6 * kMs);
  EXPECT_EQ(budgets.left_ns(0), 4 * kMs);
  EXPECT_EQ(budgets.next_ns(0), 16 * kMs);
  budgets.Charge(0, 3 * kMs);
  budgets.Begin(0, 10 * kMs);
  EXPECT_EQ(budgets.left_ns(0), kMs);
  EXPECT_EQ(budgets.next_ns(0), 16 * kMs);
}

// When each core ran.
class Meter final : public Observer {
 public:
  using Interval = std::pair<int64_t, int64_t>;

  explicit Meter(const Workload& workload)
      : watcher_(workload),
        since_ns_(workload.machine.resource_count(), kNever),
        runs_(workload.machine.resource_count()) {}

  Watcher& watcher() { return watcher_; }
  const std::vector<Interval>& runs(uint32_t resource) const {
    return runs_[resource];
  }
  uint64_t pause_count() const { return pause_count_; }

  void OnRelease(int64_t now_ns, const sched::Decision& job,
                 int64_t deadline_ns) override {
    watcher_.OnRelease(now_ns, job, deadline_ns);
  }
  void OnDecision(int64_t now_ns, const sched::Decision& decision) override {
    watcher_.OnDecision(now_ns, decision);
    if (decision.kind == sched::DecisionKind::kStart) Run(now_ns, decision);
  }
  void OnStop(int64_t now_ns, const sched::Decision& start,
              uint32_t done_ppm) override {
    watcher_.OnStop(now_ns, start, done_ppm);
    Rest(now_ns, start);
  }
  void OnPause(int64_t now_ns, const sched::Decision& start,
               bool is_paused) override {
    if (!is_paused) return Run(now_ns, start);
    ++pause_count_;
    Rest(now_ns, start);
  }
  void OnAvailable(int64_t now_ns, uint32_t resource, bool is_there) override {
    watcher_.OnAvailable(now_ns, resource, is_there);
  }

 private:
  static constexpr int64_t kNever = -1;

  void Run(int64_t now_ns, const sched::Decision& start) {
    start.resources.ForEach([&](uint32_t r) { since_ns_[r] = now_ns; });
  }
  void Rest(int64_t now_ns, const sched::Decision& start) {
    start.resources.ForEach([&](uint32_t r) {
      if (since_ns_[r] != kNever) runs_[r].push_back({since_ns_[r], now_ns});
      since_ns_[r] = kNever;
    });
  }

  Watcher watcher_;
  std::vector<int64_t> since_ns_;  // By resource; kNever: it does not run.
  std::vector<std::vector<Interval>> runs_;
  uint64_t pause_count_ = 0;
};

int64_t RunWithin(const std::vector<Meter::Interval>& runs, int64_t begin_ns,
                  int64_t end_ns) {
  int64_t sum_ns = 0;
  for (const auto& [run_begin_ns, run_end_ns] : runs) {
    sum_ns += std::max<int64_t>(
        std::min(run_end_ns, end_ns) - std::max(run_begin_ns, begin_ns), 0);
  }
  return sum_ns;
}

// The most of a window: two budgets, and one for each further period in it. The
// windows that begin with a run are the worst ones.
void CheckBudget(const PoolBudget& budget, const Meter& meter,
                 uint32_t resource) {
  const auto& runs = meter.runs(resource);
  for (size_t i = 0; i < std::min<size_t>(runs.size(), 200); ++i) {
    for (const int64_t periods : {1, 2, 5}) {
      const int64_t begin_ns = runs[i].first;
      ASSERT_LE(
          RunWithin(runs, begin_ns, begin_ns + periods * budget.period_ns),
          (periods + 1) * budget.budget_ns)
          << "resource " << resource << ", from " << begin_ns << " on, "
          << periods << " periods";
    }
  }
}

void PlayOneOfBudgets(uint64_t seed, uint64_t* pauses) {
  Random random(seed);
  Workload workload = MakeRandomWorkload({}, random);
  for (uint32_t pool = 0; pool < workload.machine.pools.size(); ++pool) {
    if (random.Below(2) == 0) continue;
    const int64_t period_ns = 100'000 + random.Below(5'000'000);
    workload.budgets.push_back(
        {pool, period_ns * (1 + random.Below(10)) / 10, period_ns});
  }
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = 20 * kMs;
  options.drains = true;
  options.event_limit = 2'000'000;
  Meter meter(workload);
  options.observer = &meter;
  const auto report = Simulate(workload, options);
  ASSERT_TRUE(report.ok()) << report.status();
  meter.watcher().CheckEnd();
  ASSERT_TRUE(meter.watcher().faults().empty()) << meter.watcher().faults()[0];
  for (const PoolBudget& budget : workload.budgets) {
    workload.machine.ResourcesOf(budget.pool).ForEach([&](uint32_t resource) {
      CheckBudget(budget, meter, resource);
    });
  }
  *pauses += meter.pause_count();
}

TEST(BudgetsTest, HoldInRandomRuns) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 300);
  uint64_t pauses = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    PlayOneOfBudgets(seed, &pauses);
    if (testing::Test::HasFatalFailure()) {
      FAIL() << "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" << seed;
    }
  }
  if (runs >= 100) {
    EXPECT_GT(pauses, runs);
  }
}

// A core that always has work gets every budget.
TEST(BudgetsTest, ABusyCoreGetsItsBudget) {
  Workload workload;
  workload.name = "busy";
  workload.machine.pools = {{"cores", sched::ResourceKind::kCore, 1, -1, 0}};
  workload.kernels = {KernelOf("frame", 3 * kMs, 1)};
  workload.programs = {{"frames", {{0, {}}}}};
  WorkloadStream frames;
  frames.name = "frames";
  frames.terms.program = 0;
  frames.arrival = Arrival::kClosed;
  workload.streams = {frames};
  workload.budgets = {{0, 4 * kMs, 10 * kMs}};
  SimulationOptions options;
  options.length_ns = 1000 * kMs;
  Meter meter(workload);
  options.observer = &meter;
  const auto report = Simulate(workload, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(RunWithin(meter.runs(0), 0, 990 * kMs), 99 * 4 * kMs);
  EXPECT_NEAR(static_cast<double>(report->streams[0].met), 400.0 / 3, 2);
}

}  // namespace
}  // namespace takt::sim
