// Goal: windows are planned ahead and followed while they hold, and do no harm.
// Method: a robot's workload in virtual time, with and without them.
#include "plan/window_guide.h"

#include "gtest/gtest.h"
#include "plan/workload_plan.h"
#include "sim/simulation.h"

namespace takt::sim {
namespace {

using plan::WindowGuide;
using plan::WindowOptions;
using plan::WindowReport;

constexpr char kRobot[] = R"({
  "topology": {"clusters": [{"name": "big", "cpus": "0-3"},
                            {"name": "little", "cpus": "4-7"}],
               "npus": [{"name": "npu0", "cluster": "big"}]},
  "kernels": [
    {"name": "conv", "alternatives": [
      {"pool": "big", "duration_us": 2400, "tile_us": 50},
      {"pool": "big", "shards": 2, "duration_us": 1300, "tile_us": 50},
      {"pool": "little", "duration_us": 4000, "tile_us": 50},
      {"pool": "npu0", "duration_us": 600}]},
    {"name": "act", "alternatives": [
      {"pool": "big", "duration_us": 120, "tile_us": 20},
      {"pool": "little", "duration_us": 200, "tile_us": 20}]},
    {"name": "filter", "alternatives": [
      {"pool": "big", "duration_us": 40, "tile_us": 10},
      {"pool": "little", "duration_us": 60, "tile_us": 10}]}],
  "programs": [
    {"name": "detect", "operations": [{"kernel": "conv", "count": 4},
      {"kernel": "act", "after": [3]}, {"kernel": "act", "after": [3]}]},
    {"name": "control", "operations": [{"kernel": "act", "count": 3}]},
    {"name": "update", "operations": [{"kernel": "filter", "count": 2}]},
    {"name": "log", "operations": [{"kernel": "act", "count": 2}]}],
  "streams": [
    {"name": "camera", "program": "detect", "period_ms": 20},
    {"name": "policy", "program": "control", "period_ms": 5,
     "criticality": "hard"},
    {"name": "estimator", "program": "update", "period_ms": 2,
     "offset_ms": 0.3, "criticality": "hard"}]})";

struct Played {
  Report report;
  WindowReport windows;
};

Played Play(const Workload& workload, uint64_t seed, bool has_windows) {
  WindowOptions window_options;
  window_options.length_ns = 50'000'000;
  window_options.planning.step_limit = 100;
  WindowGuide guide(window_options);
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = 400'000'000;
  options.drains = true;
  if (has_windows) options.scheduler.guide = &guide;
  auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return {*std::move(report), guide.report()};
}

Workload Read() {
  auto workload = ReadWorkload(kRobot, plan::WorkloadSources{});
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *std::move(workload);
}

void ExpectAllEnded(const Report& report) {
  for (const StreamReport& stream : report.streams) {
    EXPECT_EQ(stream.released, stream.met + stream.missed) << stream.name;
  }
}

TEST(WindowGuideTest, WindowsArePlannedAndFollowed) {
  const Played run = Play(Read(), 1, true);
  // 400 ms; a new one each 47.5 ms.
  EXPECT_GE(run.windows.planned_count, 8u);
  EXPECT_EQ(run.windows.failed_count, 0u);
  EXPECT_GT(run.windows.started_count, 700u);
  EXPECT_GT(run.windows.in_place_count, run.windows.started_count / 2);
  ExpectAllEnded(run.report);
  EXPECT_EQ(run.report.MissCount(sched::Criticality::kHard), 0u);
}

TEST(WindowGuideTest, TheSameSeedGivesTheSameRun) {
  Workload workload = Read();
  workload.noise = 0.2;
  const Played a = Play(workload, 7, true);
  const Played b = Play(workload, 7, true);
  for (size_t i = 0; i < a.report.streams.size(); ++i) {
    EXPECT_EQ(a.report.streams[i].responses_ns,
              b.report.streams[i].responses_ns);
  }
  EXPECT_EQ(a.windows.broken_count, b.windows.broken_count);
}

TEST(WindowGuideTest, WhatThePolicyMeetsIsMetWithNoiseAndALostCore) {
  Workload workload = Read();
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

TEST(WindowGuideTest, WhatNobodyExpectedDoesNotWaitForThePlan) {
  Workload workload = Read();
  Stream alarm;
  alarm.name = "alarm";
  alarm.arrival = Arrival::kPoisson;
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

TEST(WindowGuideTest, BestEffortFillsTheHoles) {
  Workload workload = Read();
  Stream log;
  log.name = "log";
  log.terms.program = 3;
  log.terms.criticality = sched::Criticality::kBestEffort;
  log.arrival = Arrival::kClosed;
  workload.streams.push_back(log);
  const Played run = Play(workload, 1, true);
  EXPECT_GT(run.report.streams[3].met, 100u);
  EXPECT_EQ(run.report.MissCount(sched::Criticality::kHard), 0u);
  EXPECT_GT(run.windows.started_count, 700u);
}

TEST(WindowGuideTest, WhatIsPlannedTooLateIsNotFollowed) {
  std::vector<std::function<void()>> waiting;
  WindowOptions window_options;
  window_options.planning.background = [&](std::function<void()> job) {
    waiting.push_back(std::move(job));
  };
  WindowGuide guide(window_options);
  SimulationOptions options;
  options.length_ns = 400'000'000;
  options.scheduler.guide = &guide;
  const auto report = Simulate(Read(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GE(waiting.size(), 3u);
  EXPECT_EQ(guide.report().planned_count, 0u);
  EXPECT_GE(guide.report().failed_count, 2u);
  EXPECT_EQ(report->MissCount(sched::Criticality::kHard), 0u);
  // It does no harm to plan what nobody waits for.
  for (const auto& job : waiting) job();
}

}  // namespace
}  // namespace takt::sim
