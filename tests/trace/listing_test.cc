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
