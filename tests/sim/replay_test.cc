// Goal: a replay agrees with its recording. Method: simulated runs are
// recorded, so that the right result is known.
#include "sim/replay.h"

#include <cmath>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "sim/trace_recorder.h"
#include "tests/sim/small_workload.h"

namespace takt::sim {
namespace {

constexpr int64_t kLengthNs = 1'000'000'000;

RecordedRun Recorded(const Workload& workload) {
  SimulationOptions options;
  options.length_ns = kLengthNs;
  options.drains = true;
  TraceRecorder recorder(workload, 1 << 20);
  options.observer = &recorder;
  EXPECT_TRUE(Simulate(workload, options).ok());
  return ReadRun(*trace::Trace::Create(recorder.Take(), true));
}

Report Played(const Replay& replay) {
  SimulationOptions options;
  options.length_ns = replay.length_ns;
  options.drains = true;
  auto report = Simulate(replay.workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

double MeanNs(const ReplayStream& stream) {
  double sum = 0;
  for (const int64_t ns : stream.responses_ns) sum += static_cast<double>(ns);
  return sum / static_cast<double>(stream.responses_ns.size());
}

TEST(ReplayTest, FindsTheKindsOfStreams) {
  const auto replay = MakeReplay(Recorded(SmallWorkload()), 0);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->workload.machine.resource_count(), 2u);
  ASSERT_EQ(replay->streams.size(), 2u);
  const ReplayStream& act = replay->streams[0];
  EXPECT_EQ(act.name, "act");
  EXPECT_FALSE(act.is_closed);
  EXPECT_EQ(act.period_ns, 5'000'000);
  EXPECT_EQ(act.deadline_ns, 5'000'000);
  EXPECT_EQ(act.job_count, 200u);
  EXPECT_TRUE(replay->streams[1].is_closed);
  EXPECT_EQ(replay->streams[1].deadline_ns, kInfiniteFuture);
}

TEST(ReplayTest, GivesTheSameResponsesWithoutNoise) {
  const auto replay = MakeReplay(Recorded(SmallWorkload()), 0);
  ASSERT_TRUE(replay.ok()) << replay.status();
  const Report report = Played(*replay);
  for (size_t i = 0; i < replay->streams.size(); ++i) {
    const ReplayStream& real = replay->streams[i];
    EXPECT_NEAR(static_cast<double>(report.streams[i].mean_ns()), MeanNs(real),
                0.2 * MeanNs(real))
        << real.name;
    EXPECT_EQ(report.streams[i].missed, real.missed_count) << real.name;
  }
}

TEST(ReplayTest, JobsTakeTheirRecordedTime) {
  Workload workload = SmallWorkload();
  workload.streams.pop_back();  // Alone: the response is the work.
  workload.noise = 0.5;
  const auto replay = MakeReplay(Recorded(workload), 1);
  ASSERT_TRUE(replay.ok()) << replay.status();
  const WorkloadStream& stream = replay->workload.streams[0];
  double least = 100;
  double most = 0;
  for (const RecordedJob& job : stream.recorded) {
    least = std::min(least, job.duration_factor);
    most = std::max(most, job.duration_factor);
  }
  EXPECT_LT(least, 0.7);
  EXPECT_GT(most, 1.4);
  // One core: each job's response is its work.
  const Report report = Played(*replay);
  ASSERT_EQ(report.streams[0].responses_ns.size(), stream.recorded.size());
  const double spread =
      static_cast<double>(report.streams[0].responses_ns.back()) /
      static_cast<double>(report.streams[0].responses_ns.front());
  EXPECT_GT(spread, 0.7 * most / least);
}

TEST(ReplayTest, ReleasesJobsAtTheRecordedTimes) {
  Workload workload = SmallWorkload();
  workload.streams[0].arrival = Arrival::kPoisson;
  workload.streams.pop_back();
  const RecordedRun run = Recorded(workload);
  const auto replay = MakeReplay(run, 0);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->streams[0].period_ns, 0);
  TraceRecorder recorder(replay->workload, 1 << 20);
  SimulationOptions options;
  options.length_ns = replay->length_ns;
  options.drains = true;
  options.observer = &recorder;
  ASSERT_TRUE(Simulate(replay->workload, options).ok());
  const RecordedRun again =
      ReadRun(*trace::Trace::Create(recorder.Take(), true));
  ASSERT_EQ(again.streams[0].jobs.size(), run.streams[0].jobs.size());
  for (size_t i = 0; i < run.streams[0].jobs.size(); ++i) {
    EXPECT_EQ(again.streams[0].jobs[i].release_ns,
              run.streams[0].jobs[i].release_ns - run.begin_ns);
  }
}

// Three jobs, 10 ms apart, of one operation of 8 ms in 4 tiles.
RecordedRun LongJobs(bool on_callers) {
  RecordedRun run;
  run.end_ns = 40'000'000;
  run.core_count = 2;
  run.streams.emplace_back();
  run.streams[0].name = "long";
  for (int64_t i = 0; i < 3; ++i) {
    RecordedRunJob job;
    job.release_ns = i * 10'000'000;
    job.end_ns = job.release_ns + 5'000'000;
    job.caller_work_ns = on_callers ? 8'000'000 : 0;
    job.operations.push_back({.kernel = "conv",
                              .start_ns = job.release_ns,
                              .end_ns = job.end_ns,
                              .work_ns = 8'000'000,
                              .tile_ns = 2'000'000,
                              .tile_count = 4});
    run.streams[0].jobs.push_back(job);
  }
  return run;
}

TEST(ReplayTest, LongOperationsSpreadAgainBetweenTiles) {
  const auto replay = MakeReplay(LongJobs(/*on_callers=*/false), 0);
  ASSERT_TRUE(replay.ok()) << replay.status();
  // As many pieces as both cores have tiles.
  EXPECT_EQ(replay->workload.programs[0].operations.size(), 2u);
  const WorkloadKernel& kernel = replay->workload.kernels[0];
  ASSERT_EQ(kernel.alternatives.size(), 2u);
  EXPECT_EQ(kernel.alternatives[0].guess_ns, 4'000'000);
  EXPECT_EQ(kernel.alternatives[1].guess_ns, 2'000'000);
  EXPECT_EQ(kernel.alternatives[0].tile_ns, 2'000'000);
  EXPECT_EQ(replay->streams[0].period_ns, 10'000'000);
}

TEST(ReplayTest, WorkYieldsToCallersThatCompute) {
  const auto replay = MakeReplay(LongJobs(/*on_callers=*/true), 0);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->workload.programs[0].operations.size(), 4u);
  const WorkloadKernel& kernel = replay->workload.kernels[0];
  EXPECT_EQ(kernel.alternatives[0].guess_ns, 2'000'000);
  EXPECT_EQ(kernel.alternatives[0].tile_ns, 20'000);
}

TEST(ReplayTest, RejectsTracesThatCannotBePlayed) {
  EXPECT_EQ(MakeReplay({}, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeReplay(Recorded(SmallWorkload()), 65).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ReplayTest, TableAndJsonHaveBothSides) {
  const auto replay = MakeReplay(Recorded(SmallWorkload()), 0);
  ASSERT_TRUE(replay.ok());
  const Report report = Played(*replay);
  const std::string table = ReplayTable(*replay, report);
  EXPECT_NE(table.find("detect"), std::string::npos);
  EXPECT_NE(table.find("closed"), std::string::npos);
  EXPECT_NE(table.find("5.0 ms"), std::string::npos);
  const auto json = nlohmann::json::parse(ReplayJson(*replay, report));
  EXPECT_EQ(json["streams"][0]["recorded"]["jobs"], 200);
  EXPECT_LT(std::abs(json["streams"][0]["mean_difference"].get<double>()), 0.2);
}

}  // namespace
}  // namespace takt::sim
