#include "sim/xrbench.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/sweep.h"

namespace takt::sim {
namespace {

using testing::HasSubstr;

sched::Machine PhoneBoard() {
  sched::Machine machine;
  machine.pools = {{"big", sched::ResourceKind::kCore, 4, -1, 0},
                   {"little", sched::ResourceKind::kCore, 4, -1, 0},
                   {"npu", sched::ResourceKind::kNpu, 1, 0, 1}};
  return machine;
}

std::vector<Workload> Scenarios() {
  std::ifstream stream(std::string(TAKT_TESTDATA_DIR) + "/sched/xrbench.json");
  std::stringstream text;
  text << stream.rdbuf();
  auto scenarios = ReadXrBench(text.str(), PhoneBoard(), {});
  EXPECT_TRUE(scenarios.ok()) << scenarios.status();
  return *std::move(scenarios);
}

TEST(XrBenchTest, ReadsTheSuite) {
  const std::vector<Workload> scenarios = Scenarios();
  ASSERT_EQ(scenarios.size(), 4u);
  EXPECT_EQ(scenarios[0].name, "AR_Assistant");
  EXPECT_EQ(scenarios[0].streams.size(), 6u);
  EXPECT_EQ(scenarios[0].streams[1].arrival, Arrival::kAfter);
  EXPECT_EQ(scenarios[0].streams[1].probability, 0.5);
  EXPECT_EQ(scenarios[0].programs[2].operations.size(), 423u);
  for (const Workload& scenario : scenarios) EXPECT_GT(scenario.Load(), 1);
}

TEST(XrBenchTest, ScoresFramesInTime) {
  Report report;
  report.streams.resize(2);
  report.streams[0].released = 4;
  report.streams[0].dropped = 1;
  report.streams[0].delays_ns = {-50'000'000, -50'000'000, 50'000'000};
  EXPECT_NEAR(XrBenchScore(report), 100 * (2.0 / 3 * 3 / 4) / 2, 1e-9);
  report.streams[1].released = 1;
  report.streams[1].delays_ns = {0};
  EXPECT_NEAR(XrBenchScore(report), 100 * (0.5 + 0.5) / 2, 1e-9);
  EXPECT_EQ(XrBenchScore({}), 0);
}

TEST(XrBenchTest, JobShopScoresBestUnderOverload) {
  const std::vector<Workload> scenarios = Scenarios();
  double best_other = 0;
  double ours = 0;
  for (const char* policy : sched::PolicyNames()) {
    if (std::string(policy) == "laxity") continue;  // A variant of ours.
    double sum = 0;
    for (const Workload& scenario : scenarios) {
      SimulationOptions options;
      options.scheduler.policy = sched::FindPolicy(policy);
      options.length_ns = 1'000'000'000;
      const auto report = Simulate(scenario, options);
      ASSERT_TRUE(report.ok()) << report.status();
      sum += XrBenchScore(*report);
    }
    double& place = std::string(policy) == "job-shop" ? ours : best_other;
    place = std::max(place, sum);
  }
  EXPECT_GT(ours, best_other);
}

TEST(XrBenchTest, NamesTheFault) {
  const auto fault = [](const char* text) {
    const auto scenarios = ReadXrBench(text, PhoneBoard(), {});
    EXPECT_FALSE(scenarios.ok()) << text;
    return std::string(scenarios.status().message());
  };
  EXPECT_THAT(fault("no"), HasSubstr("is not JSON"));
  EXPECT_THAT(fault("[]"), HasSubstr("expected scenarios and networks"));
  EXPECT_THAT(fault(R"({"networks": {}, "scenarios": {"s": []}})"),
              HasSubstr("s: has no models"));
  EXPECT_THAT(fault(R"({"networks": {}, "scenarios": {"s": [{}]}})"),
              HasSubstr("s[0]: expected a name"));
  EXPECT_THAT(
      fault(
          R"({"networks": {}, "scenarios": {"s": [{"name": "n", "fps": 1}]}})"),
      HasSubstr("n: there is no such network"));
  EXPECT_THAT(fault(R"({"networks": {"n": [["l", 1, 0, 1, 1, 1, 1, 1]]},
                "scenarios": {"s": [{"name": "n", "fps": 1}]}})"),
              HasSubstr("sizes are numbers"));
  EXPECT_THAT(fault(R"({"networks": {"n": [["l", 1, 1, 1, 1, 1, 1, 1]]},
                "scenarios": {"s": [{"name": "n", "fps": 1,
                                     "depends_on": ["m"]}]}})"),
              HasSubstr("does not stand above"));
}

TEST(SweepTest, PutsPoliciesSideBySide) {
  std::vector<Workload> scenarios = Scenarios();
  scenarios.resize(1);
  SweepOptions options;
  options.length_ns = 500'000'000;
  const auto table = XrBenchTable(scenarios, options);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(*table, HasSubstr("AR_Assistant"));
  EXPECT_THAT(*table, HasSubstr("job-shop"));
  options.loads = {0.5};
  options.noises = {0, 0.5};
  scenarios[0].streams[0].terms.criticality = sched::Criticality::kHard;
  const auto sweep = SweepTable(scenarios[0], options);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_THAT(*sweep, HasSubstr("job-shop against the best other"));
}

}  // namespace
}  // namespace takt::sim
