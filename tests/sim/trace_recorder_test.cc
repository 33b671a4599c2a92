#include "sim/trace_recorder.h"

#include <string>

#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/small_workload.h"
#include "trace/check.h"
#include "trace/perfetto_writer.h"
#include "trace/summary.h"
#include "trace/trace.h"

namespace takt::sim {
namespace {

Report Record(const Workload& workload, const SimulationOptions& given,
              uint64_t event_count_max, Recording* recording) {
  SimulationOptions options = given;
  TraceRecorder recorder(workload, event_count_max);
  options.observer = &recorder;
  const auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  *recording = recorder.Take();
  return *report;
}

std::string Bytes(const Recording& recording) {
  std::string bytes;
  EXPECT_TRUE(trace::WritePerfetto(*trace::Trace::Create(recording, true),
                                   [&](absl::string_view part) {
                                     bytes.append(part.data(), part.size());
                                     return absl::OkStatus();
                                   })
                  .ok());
  return bytes;
}

SimulationOptions Drained() {
  SimulationOptions options;
  options.length_ns = 200'000'000;
  options.drains = true;
  return options;
}

TEST(TraceRecorderTest, AgreesWithTheReport) {
  Recording recording;
  const Report report = Record(SmallWorkload(), Drained(), 1 << 20, &recording);
  const auto trace = trace::Trace::Create(recording, true);
  const trace::Summary summary = trace::Summarize(*trace);
  ASSERT_EQ(summary.streams.size(), report.streams.size());
  for (size_t i = 0; i < report.streams.size(); ++i) {
    EXPECT_EQ(summary.streams[i].name, report.streams[i].name);
    EXPECT_EQ(summary.streams[i].released, report.streams[i].released);
    EXPECT_EQ(summary.streams[i].met, report.streams[i].met);
    EXPECT_EQ(summary.streams[i].missed, report.streams[i].missed);
    EXPECT_EQ(summary.streams[i].mean_ns, report.streams[i].mean_ns());
    EXPECT_EQ(summary.streams[i].q99_ns, report.streams[i].quantile_ns(0.99));
  }
  uint64_t slot_count = 0;
  for (const trace::TrackSummary& track : summary.tracks) {
    slot_count += track.span_count;
  }
  EXPECT_GE(slot_count, report.start_count);
  EXPECT_EQ(recording.lost_count, 0u);
}

TEST(TraceRecorderTest, NoResourceRunsTwoOperationsAtOnce) {
  Recording recording;
  SimulationOptions options = Drained();
  options.seed = 3;
  Workload workload = SmallWorkload();
  workload.noise = 0.4;
  Record(workload, options, 1 << 20, &recording);
  const trace::CheckResult result =
      trace::CheckTrace(*trace::Trace::Create(recording, true));
  EXPECT_EQ(result.finding_count, 0u) << result.findings.at(0);
}

TEST(TraceRecorderTest, TheSameSeedGivesTheSameBytes) {
  Recording first, second, other;
  Workload workload = SmallWorkload();
  workload.noise = 0.3;
  SimulationOptions options = Drained();
  Record(workload, options, 1 << 20, &first);
  Record(workload, options, 1 << 20, &second);
  EXPECT_EQ(Bytes(first), Bytes(second));
  options.seed = 2;
  Record(workload, options, 1 << 20, &other);
  EXPECT_NE(Bytes(first), Bytes(other));
}

TEST(TraceRecorderTest, KeepsTheFirstEventsAndCountsTheOthers) {
  Recording whole, cut;
  Record(SmallWorkload(), Drained(), 1 << 20, &whole);
  Record(SmallWorkload(), Drained(), 10, &cut);
  EXPECT_EQ(cut.events.size(), 10u);
  EXPECT_EQ(cut.lost_count, whole.events.size() - 10);
}

TEST(TraceRecorderTest, RecordsFaultsAndSpeeds) {
  Workload workload = SmallWorkload();
  workload.faults.push_back({10'000'000, 5'000'000, 1});
  workload.speed_steps.push_back({20'000'000, 0, 500});
  Recording recording;
  Record(workload, Drained(), 1 << 20, &recording);
  int64_t speed = 0;
  for (const takt::Event& event : recording.events) {
    if (event.kind == takt::EventKind::kResourceAvailable) {
      EXPECT_EQ(recording.tracks[event.track].name, "cores 1");
      EXPECT_EQ(event.value, event.time_ns == 15'000'000 ? 1 : 0);
    }
    if (event.kind == takt::EventKind::kResourceSpeed) speed = event.value;
  }
  EXPECT_EQ(speed, 500);
}

}  // namespace
}  // namespace takt::sim
