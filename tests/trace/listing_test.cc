#include "trace/listing.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

TEST(ListingTest, TextHasALineAnEvent) {
  const auto trace = Trace::Create(SampleRecording(), false);
  const std::string text = Collected(WriteText, *trace);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13);
  EXPECT_TRUE(text.starts_with("run, 12 events in 0.000900 ms, 5 lost\n"))
      << text;
  EXPECT_NE(text.find("      0.000300     0.400 us  worker    takt-0      "
                      "dispatch axpy <&\"\xc3\xa9> tiles 0 to 4 id 2 of 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("job_met policy.act after 900 ns"), std::string::npos);
}

TEST(ListingTest, JsonHasAllOfTheTrace) {
  const auto trace = Trace::Create(SampleRecording(), true);
  const auto json = nlohmann::json::parse(Collected(WriteJson, *trace));
  EXPECT_EQ(json["begin_ns"], 1000);
  EXPECT_EQ(json["end_ns"], 1900);
  EXPECT_EQ(json["lost"], 5);
  EXPECT_EQ(json["simulated"], true);
  ASSERT_EQ(json["tracks"].size(), 5u);
  EXPECT_EQ(json["tracks"][2]["kind"], "npu");
  ASSERT_EQ(json["events"].size(), 12u);
  const auto& dispatch = json["events"][6];
  EXPECT_EQ(dispatch["kind"], "dispatch");
  EXPECT_EQ(dispatch["t"], 1300);
  EXPECT_EQ(dispatch["ns"], 400);
  EXPECT_EQ(dispatch["name"], "axpy <&\"\xc3\xa9>");
  EXPECT_EQ(dispatch["value"], 4);
  EXPECT_FALSE(dispatch.contains("detail"));
}

TEST(ListingTest, JsonOfNamesThatAreNoTextIsJson) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "\xff\n\"");
  const uint32_t name = maker.Name("\x80</script>");
  maker.Add(EventKind::kDispatch, track, 1, 1).name = name;
  const auto trace = Trace::Create(maker.recording, false);
  const auto json = nlohmann::json::parse(Collected(WriteJson, *trace));
  EXPECT_EQ(json["tracks"].size(), 1u);
}

TEST(ListingTest, JobsHaveTheirNumbersWithinTheirStreams) {
  RecordingMaker maker;
  maker.Track(TrackKind::kStream, "a");
  const uint16_t stream = maker.Track(TrackKind::kStream, "b");
  const uint16_t core = maker.Track(TrackKind::kCore, "core 0");
  const uint64_t job = StreamJobId(stream, 3);
  maker.Add(EventKind::kJobReleased, stream, 1).id = job;
  maker.Add(EventKind::kInvocationBegin, core, 2).parent = job;
  maker.Add(EventKind::kSlot, core, 3).id = job;
  maker.Add(EventKind::kJobMissed, stream, 4).id = StreamJobId(stream, 0);
  // Neither is of a stream.
  maker.Add(EventKind::kSlot, core, 5).id = 7;
  maker.Add(EventKind::kDispatch, core, 6).id = 8;
  const auto trace = Trace::Create(maker.recording, false);
  const auto text = [&](size_t i) {
    return DescribeEvent(*trace, trace->events()[i]);
  };
  const std::string id = std::to_string(job);
  EXPECT_EQ(text(0), "job_released due 0 ns job 3 id " + id);
  EXPECT_EQ(text(1), "invocation_begin due 0 ns job 3 of " + id);
  EXPECT_EQ(text(2), "slot job 3 id " + id);
  EXPECT_EQ(text(4), "slot id 7");
  const auto json = nlohmann::json::parse(Collected(WriteJson, *trace));
  const auto& events = json["events"];
  for (const int i : {0, 1, 2}) EXPECT_EQ(events[i]["job"], 3) << i;
  EXPECT_EQ(events[0]["id"], job);
  EXPECT_EQ(events[3]["job"], 0);
  EXPECT_FALSE(events[4].contains("job"));
  EXPECT_FALSE(events[5].contains("job"));
}

TEST(ListingTest, AnEmptyTraceIsWrittenToo) {
  const auto trace = Trace::Create({}, false);
  EXPECT_EQ(Collected(WriteText, *trace),
            "run, 0 events in 0.000000 ms, 0 lost\n");
  EXPECT_TRUE(
      nlohmann::json::parse(Collected(WriteJson, *trace))["events"].empty());
}

TEST(ListingTest, DescribesTheFieldsOfAKind) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kStream, "a");
  maker.Add(EventKind::kJobReleased, track, 1).value = INT64_MAX;
  maker.Add(EventKind::kJobReleased, track, 2).value = 70;
  maker.Add(EventKind::kProgram, track, 3).detail = 1;
  maker.Add(EventKind::kAlloca, track, 4).value = 64;
  maker.Add(EventKind::kNpuLease, track, 5).value = 8;
  maker.Add(EventKind::kNpuFault, track, 6).detail = 5;
  const auto trace = Trace::Create(maker.recording, false);
  const auto text = [&](size_t i) {
    return DescribeEvent(*trace, trace->events()[i]);
  };
  EXPECT_EQ(text(0), "job_released");
  EXPECT_EQ(text(1), "job_released due 70 ns");
  EXPECT_EQ(text(2), "program parks");
  EXPECT_EQ(text(3), "alloca 64 bytes");
  EXPECT_EQ(text(4), "npu_lease waited 8 ns");
  EXPECT_EQ(text(5), "npu_fault left to the CPU");
}

}  // namespace
}  // namespace takt::trace
