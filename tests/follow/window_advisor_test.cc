// Goal: windows are planned ahead and followed while they hold, and make no job
// late. Method: a robot's workload in virtual time, with and without windows;
// single decisions.
#include "follow/window_advisor.h"

#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/follow/plan_play.h"
#include "tests/sched/test_support.h"

namespace takt::follow {
namespace {

using sim::Report;
using sim::Simulate;
using sim::StreamReport;

struct Played {
  Report report;
  WindowReport windows;
};

Played Play(const Workload& workload, uint64_t seed, bool has_windows) {
  WindowOptions window_options;
  window_options.length_ns = 50'000'000;
  window_options.planning.step_limit = 100;
  WindowAdvisor advisor(window_options);
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = 400'000'000;
  options.drains = true;
  if (has_windows) options.scheduler.advisor = &advisor;
  auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return {*std::move(report), advisor.report()};
}

void ExpectAllEnded(const Report& report) {
  for (const StreamReport& stream : report.streams) {
    EXPECT_EQ(stream.released, stream.met + stream.missed) << stream.name;
  }
}

TEST(WindowAdvisorTest, WindowsArePlannedAndFollowed) {
  const Played run = Play(ReadRobot(), 1, true);
  // 400 ms; a new one each 47.5 ms.
  EXPECT_GE(run.windows.planned_count, 8u);
  EXPECT_EQ(run.windows.failed_count, 0u);
  EXPECT_GT(run.windows.started_count, 700u);
  EXPECT_GT(run.windows.in_place_count, run.windows.started_count / 2);
  ExpectAllEnded(run.report);
  EXPECT_EQ(run.report.MissCount(sched::Criticality::kHard), 0u);
}

TEST(WindowAdvisorTest, TheSameSeedGivesTheSameRun) {
  Workload workload = ReadRobot();
  workload.noise = 0.2;
  const Played a = Play(workload, 7, true);
  const Played b = Play(workload, 7, true);
  for (size_t i = 0; i < a.report.streams.size(); ++i) {
    EXPECT_EQ(a.report.streams[i].responses_ns,
              b.report.streams[i].responses_ns);
  }
  EXPECT_EQ(a.windows.broken_count, b.windows.broken_count);
}

TEST(WindowAdvisorTest, MeetsThePolicysDeadlinesWithNoiseAndALostCore) {
  Workload workload = ReadRobot();
  for (const double noise : {0.0, 0.1, 0.3, 0.5}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      workload.noise = noise;
      workload.faults = {
          {200'000'000, kInfiniteFuture, static_cast<uint32_t>(seed % 5)}};
      const Played with = Play(workload, seed, true);
      const Played without = Play(workload, seed, false);
      EXPECT_LE(with.report.MissCount(sched::Criticality::kHard),
                without.report.MissCount(sched::Criticality::kHard))
          << "noise " << noise << ", seed " << seed;
      EXPECT_GT(with.windows.broken_count, 0u);
      ExpectAllEnded(with.report);
    }
  }
}

TEST(WindowAdvisorTest, AnUnexpectedJobDoesNotWaitForThePlan) {
  Workload workload = ReadRobot();
  plan::WorkloadStream alarm;
  alarm.name = "alarm";
  alarm.arrival = plan::Arrival::kPoisson;
  alarm.terms.program = 1;
  alarm.terms.criticality = sched::Criticality::kHard;
  alarm.terms.period_ns = 30'000'000;
  alarm.terms.deadline_ns = 2'000'000;
  workload.streams.push_back(alarm);
  const Played run = Play(workload, 3, true);
  EXPECT_GT(run.report.streams[3].met, 5u);
  EXPECT_EQ(run.report.MissCount(sched::Criticality::kHard), 0u);
  EXPECT_GT(run.windows.broken_count, 0u);
  EXPECT_GT(run.windows.started_count, 100u);
}

TEST(WindowAdvisorTest, BestEffortFillsTheHoles) {
  Workload workload = ReadRobot();
  plan::WorkloadStream log;
  log.name = "log";
  log.terms.program = 3;
  log.terms.criticality = sched::Criticality::kBestEffort;
  log.arrival = plan::Arrival::kClosed;
  workload.streams.push_back(log);
  const Played run = Play(workload, 1, true);
  EXPECT_GT(run.report.streams[3].met, 100u);
  EXPECT_EQ(run.report.MissCount(sched::Criticality::kHard), 0u);
  EXPECT_GT(run.windows.started_count, 700u);
}

TEST(WindowAdvisorTest, DoesNotFollowAPlanThatIsLate) {
  std::vector<std::function<void()>> waiting;
  WindowOptions window_options;
  window_options.planning.background = [&](std::function<void()> job) {
    waiting.push_back(std::move(job));
  };
  WindowAdvisor advisor(window_options);
  SimulationOptions options;
  options.length_ns = 400'000'000;
  options.scheduler.advisor = &advisor;
  const auto report = Simulate(ReadRobot(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GE(waiting.size(), 3u);
  EXPECT_EQ(advisor.report().planned_count, 0u);
  EXPECT_GE(advisor.report().failed_count, 2u);
  EXPECT_EQ(report->MissCount(sched::Criticality::kHard), 0u);
  // Planning may end after the run.
  for (const auto& job : waiting) job();
}

TEST(WindowAdvisorTest, ASlowFirstRunDoesNotKeepAPlanNarrow) {
  WindowOptions window_options;
  window_options.length_ns = 50'000'000;
  WindowAdvisor advisor(window_options);
  sched::SchedulerOptions options;
  options.advisor = &advisor;
  sched::Shop shop(sched::Cores(2), "job-shop", options);
  const sched::KernelId kernel =
      shop.Kernel({{0, 1, 2000, 10}, {0, 2, 1000, 10}});
  for (int i = 0; i < 20; ++i) {
    shop->mutable_costs()->Observe(kernel, 0, 2'000'000);
  }
  shop->mutable_costs()->Observe(kernel, 1, 50'000'000);
  sched::StreamOptions terms =
      sched::Terms(shop.Chain({kernel}), sched::Criticality::kSoft, 9'000);
  terms.period_ns = 10'000'000;
  const sched::StreamId stream = shop.Add(terms);
  int64_t now_us = 0;
  for (int i = 0; i < 3; ++i) {
    shop.Release(stream, now_us);
    const auto starts =
        sched::Only(shop.Decide(now_us), sched::DecisionKind::kStart);
    ASSERT_EQ(starts.size(), 1u);
    EXPECT_EQ(advisor.is_in_force(), i > 0);
    EXPECT_EQ(starts[0].shards, 2u) << i;
    shop.Finish(starts[0], now_us + 1000);
    now_us += 5'000;
    shop.Decide(now_us);  // A plan comes into force.
    now_us += 5'000;
  }
}

}  // namespace
}  // namespace takt::follow
