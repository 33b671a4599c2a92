// Simulates workloads that can be worked out by hand, and checks the reports.
#include "sim/simulation.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/report_json.h"

namespace takt::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Fixture(const std::string& name) {
  std::ifstream stream(std::string(TAKT_TESTDATA_DIR) + "/" + name);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

sched::Machine Board() {
  const auto topology =
      topology::Topology::FromJson(Fixture("topology/two_clusters_npu.json"));
  EXPECT_TRUE(topology.ok()) << topology.status();
  const auto machine = MachineOf(*topology);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return *machine;
}

Workload Robot() {
  const auto workload = ReadWorkload(Fixture("sched/robot.json"), Board());
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *workload;
}

// One core; each stream's program is one kernel of that length.
Workload Cores(uint32_t count) {
  Workload workload;
  workload.name = "by hand";
  workload.machine.pools = {
      {"cores", sched::ResourceKind::kCore, count, -1, 0}};
  return workload;
}
WorkloadStream* AddStream(Workload* workload, int64_t duration_us,
                          int64_t period_us, int64_t tile_us = 0) {
  const auto index = static_cast<uint32_t>(workload->kernels.size());
  const std::string name = "s" + std::to_string(index);
  workload->kernels.push_back(
      {name, {{0, 1, duration_us * 1000, tile_us * 1000}}});
  workload->programs.push_back({name, {{index, {}}}});
  WorkloadStream stream;
  stream.name = name;
  stream.terms.program = index;
  stream.terms.period_ns = period_us * 1000;
  stream.terms.deadline_ns = period_us * 1000;
  workload->streams.push_back(stream);
  return &workload->streams.back();
}

Report Play(const Workload& workload, SimulationOptions options = {}) {
  if (options.length_ns == SimulationOptions().length_ns) {
    options.length_ns = 10'000'000;
  }
  auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

TEST(SimulationTest, APeriodicStreamAloneTakesItsTime) {
  Workload workload = Cores(1);
  AddStream(&workload, 300, 1000);
  const Report report = Play(workload);
  ASSERT_EQ(report.streams.size(), 1u);
  EXPECT_EQ(report.streams[0].released, 10u);
  EXPECT_EQ(report.streams[0].met, 10u);
  EXPECT_EQ(report.streams[0].quantile_ns(0.5), 300'000);
  EXPECT_EQ(report.streams[0].quantile_ns(1), 300'000);
  EXPECT_EQ(report.streams[0].mean_ns(), 300'000);
  EXPECT_NEAR(report.utilization[0], 0.3, 1e-9);
  EXPECT_EQ(report.makespan_ns, 9'300'000);
  EXPECT_NEAR(workload.Load(), 0.3, 1e-9);
}

TEST(SimulationTest, UrgentWorkWaitsForATileAtMost) {
  Workload workload = Cores(1);
  AddStream(&workload, 5000, 10'000, 100)->terms.criticality =
      sched::Criticality::kBestEffort;
  WorkloadStream* control = AddStream(&workload, 100, 1000);
  control->terms.criticality = sched::Criticality::kHard;
  control->offset_ns = 550'000;
  const Report report = Play(workload);
  EXPECT_EQ(report.streams[1].missed, 0u);
  EXPECT_LE(report.streams[1].quantile_ns(1), 200'000);
  EXPECT_GT(report.yield_count, 0u);
  // Nothing of the long one is lost: 5 ms of its own, 0.1 a control job.
  EXPECT_EQ(report.streams[0].met, 1u);
  EXPECT_NEAR(static_cast<double>(report.streams[0].quantile_ns(1)), 5.5e6,
              0.1e6);
}

TEST(SimulationTest, ChainsFollowAndCountDroppedJobs) {
  Workload workload = Cores(1);
  AddStream(&workload, 400, 1000)->terms.late = sched::LatePolicy::kDrop;
  WorkloadStream* second = AddStream(&workload, 300, 1000);
  second->arrival = Arrival::kAfter;
  second->after = 0;
  Report report = Play(workload);
  EXPECT_EQ(report.streams[1].released, 10u);
  EXPECT_EQ(report.streams[1].quantile_ns(1), 700'000);      // Of the chain.
  workload.kernels[0].alternatives[0].guess_ns = 2'000'000;  // Never in time.
  report = Play(workload);
  EXPECT_EQ(report.streams[0].dropped, 10u);
  EXPECT_EQ(report.streams[1].dropped, 10u);
}

TEST(SimulationTest, AClosedStreamReleasesWhenItIsDone) {
  Workload workload = Cores(1);
  WorkloadStream* stream = AddStream(&workload, 250, 0);
  stream->arrival = Arrival::kClosed;
  stream->terms.deadline_ns = kInfiniteFuture;
  EXPECT_EQ(Play(workload).streams[0].met, 39u);
  // A stream whose jobs are always given up at once does not stop time.
  stream->terms.deadline_ns = 100'000;
  stream->terms.late = sched::LatePolicy::kDrop;
  EXPECT_EQ(Play(workload).streams[0].dropped, 100u);
}

TEST(SimulationTest, ALostCoreComesBack) {
  Workload workload = Cores(1);
  AddStream(&workload, 300, 1000);
  workload.faults.push_back({2'100'000, 3'000'000, 0});
  const Report report = Play(workload);
  EXPECT_GT(report.streams[0].missed, 0u);
  EXPECT_LT(report.streams[0].missed, 5u);
  EXPECT_EQ(report.streams[0].released, 10u);
}

TEST(SimulationTest, AHotPoolIsSlowUntilItHasCooled) {
  Workload workload = Cores(1);
  AddStream(&workload, 800, 1000);
  ThermalModel model;
  model.time_constant_ns = 100'000'000;
  model.trip_c = 80;
  model.hysteresis_c = 5;
  model.permille = 500;
  workload.thermal_models.push_back(model);
  SimulationOptions options;
  options.length_ns = 2'000'000'000;
  const Report report = Play(workload, options);
  EXPECT_EQ(report.streams[0].quantile_ns(0.001), 800'000);
  EXPECT_GT(report.streams[0].missed, 100u);
  EXPECT_GT(report.mode_changes, 0u);
}

TEST(SimulationTest, DynamicJobsRunLikeJobsWithAProgram) {
  Workload workload = Robot();
  SimulationOptions options;
  options.length_ns = 500'000'000;
  const Report known = Play(workload, options);
  for (WorkloadStream& stream : workload.streams) stream.is_dynamic = true;
  const Report found = Play(workload, options);
  for (size_t i = 0; i < known.streams.size(); ++i) {
    EXPECT_EQ(known.streams[i].released, found.streams[i].released);
    EXPECT_EQ(found.streams[i].missed, 0u) << found.streams[i].name;
  }
}

TEST(SimulationTest, TheSameSeedGivesTheSameRun) {
  Workload workload = Robot();
  workload.noise = 0.3;
  for (const char* policy : sched::PolicyNames()) {
    SimulationOptions options;
    options.scheduler.policy = sched::FindPolicy(policy);
    options.length_ns = 300'000'000;
    const std::string first =
        ReportJson(workload, options, Play(workload, options));
    EXPECT_EQ(first, ReportJson(workload, options, Play(workload, options)));
    options.seed = 2;
    EXPECT_NE(first, ReportJson(workload, options, Play(workload, options)));
  }
}

TEST(SimulationTest, ATableHasNoErrorsOfPredictionsThatWereNotMade) {
  const Workload workload = Robot();
  SimulationOptions options;
  options.length_ns = 500'000'000;
  EXPECT_THAT(ReportTable(workload, options, Play(workload, options)),
              HasSubstr("durations predicted within"));
  options.scheduler.learns_slowdown = false;
  EXPECT_THAT(ReportTable(workload, options, Play(workload, options)),
              Not(HasSubstr("durations predicted within")));
}

TEST(SimulationTest, ReportsForPeopleAndForPrograms) {
  const Workload workload = Robot();
  SimulationOptions options;
  options.length_ns = 500'000'000;
  const Report report = Play(workload, options);
  EXPECT_THAT(ReportTable(workload, options, report), HasSubstr("estimator"));
  double used = 0;
  for (const StreamReport& stream : report.streams) {
    used += static_cast<double>(stream.used_ns);
  }
  double busy = 0;
  for (const double part : report.utilization) busy += part;
  // All but what still runs at the end.
  EXPECT_NEAR(used / static_cast<double>(options.length_ns), busy, 0.2);
  EXPECT_LE(used / static_cast<double>(options.length_ns), busy + 1e-9);
  const std::string json = ReportJson(workload, options, report);
  EXPECT_THAT(json, HasSubstr("\"policy\": \"job-shop\""));
  EXPECT_THAT(json, HasSubstr("\"resource\": \"npu0/0\""));
}

TEST(SimulationTest, GivesUpRunsWithoutEnd) {
  Workload workload = Cores(1);
  AddStream(&workload, 1, 1);
  SimulationOptions options;
  options.length_ns = 1'000'000'000'000;
  options.event_limit = 10'000;
  const auto report = Simulate(workload, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("10000 events"));
}

TEST(SimulationTest, NamesTheStreamAtFault) {
  Workload workload = Cores(1);
  AddStream(&workload, 1, 1)->terms.affinity = {};
  const auto report = Simulate(workload, {});
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("s0: stream"));
}

// At this load on this board only the default policy meets all hard deadlines.
TEST(SimulationTest, JobShopMissesNoHardJobWhereTheOthersDo) {
  Workload workload = Robot();
  workload.Scale(0.6 / workload.Load());
  for (const char* policy : sched::PolicyNames()) {
    if (std::string(policy) == "laxity") continue;  // A variant of it.
    SimulationOptions options;
    options.scheduler.policy = sched::FindPolicy(policy);
    options.length_ns = 2'000'000'000;
    const uint64_t missed =
        Play(workload, options).MissCount(sched::Criticality::kHard);
    if (std::string(policy) == "job-shop") {
      EXPECT_EQ(missed, 0u);
    } else {
      EXPECT_GT(missed, 0u) << policy;
    }
  }
}

}  // namespace
}  // namespace takt::sim
