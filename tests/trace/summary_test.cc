#include "trace/summary.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

TEST(SummaryTest, CountsTimeOnATrackOnce) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "a");
  maker.Add(EventKind::kProgram, track, 0, 100);
  maker.Add(EventKind::kDispatch, track, 10, 20);  // Within it.
  maker.Add(EventKind::kDispatch, track, 90, 20);  // Half within it.
  maker.Add(EventKind::kDispatch, track, 200, 50);
  maker.Add(EventKind::kAlloca, track, 300);
  const Summary summary = Summarize(*Trace::Create(maker.recording, false));
  ASSERT_EQ(summary.tracks.size(), 1u);
  EXPECT_EQ(summary.tracks[0].busy_ns, 160);
  EXPECT_EQ(summary.tracks[0].span_count, 4u);
  EXPECT_EQ(summary.length_ns, 300);
  EXPECT_EQ(summary.event_count, 5u);
}

TEST(SummaryTest, AddsUpWorkByNameTheMostFirst) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "a");
  const uint32_t small = maker.Name("small");
  const uint32_t large = maker.Name("large");
  for (int i = 1; i <= 100; ++i) {
    maker.Add(EventKind::kDispatch, track, 1000 * i, i).name = small;
  }
  maker.Add(EventKind::kDispatch, track, 5, 10'000).name = large;
  const Summary summary = Summarize(*Trace::Create(maker.recording, false));
  ASSERT_EQ(summary.work.size(), 2u);
  EXPECT_EQ(summary.work[0].name, "large");
  EXPECT_EQ(summary.work[1].name, "small");
  EXPECT_EQ(summary.work[1].count, 100u);
  EXPECT_EQ(summary.work[1].total_ns, 5050);
  EXPECT_EQ(summary.work[1].q50_ns, 50);
  EXPECT_EQ(summary.work[1].q99_ns, 99);
  EXPECT_EQ(summary.work[1].max_ns, 100);
}

TEST(SummaryTest, CountsTheJobsOfEachStream) {
  RecordingMaker maker;
  const uint16_t one = maker.Track(TrackKind::kStream, "one");
  const uint16_t two = maker.Track(TrackKind::kStream, "two");
  for (int i = 0; i < 5; ++i) maker.Add(EventKind::kJobReleased, one, i);
  maker.Add(EventKind::kJobMet, one, 10).value = 100;
  maker.Add(EventKind::kJobMissed, one, 11).value = 300;
  maker.Add(EventKind::kJobDropped, one, 12).value = 9999;
  maker.Add(EventKind::kJobFailed, one, 13);
  maker.Add(EventKind::kJobReleased, two, 14);
  const Summary summary = Summarize(*Trace::Create(maker.recording, false));
  ASSERT_EQ(summary.streams.size(), 2u);
  const StreamSummary& stream = summary.streams[0];
  EXPECT_EQ(stream.name, "one");
  EXPECT_EQ(stream.released, 5u);
  EXPECT_EQ(stream.met, 1u);
  EXPECT_EQ(stream.missed, 1u);
  EXPECT_EQ(stream.dropped, 1u);
  EXPECT_EQ(stream.failed, 1u);
  EXPECT_EQ(stream.mean_ns, 200);
  EXPECT_EQ(stream.q50_ns, 100);
  EXPECT_EQ(stream.q99_ns, 300);
  EXPECT_EQ(stream.max_ns, 300);
  EXPECT_EQ(summary.streams[1].released, 1u);
  EXPECT_EQ(summary.streams[1].mean_ns, 0);
}

TEST(SummaryTest, MeansAreRounded) {
  EXPECT_EQ(Mean({}), 0);
  EXPECT_EQ(Mean({7}), 7);
  EXPECT_EQ(Mean({1, 2}), 2);
  EXPECT_EQ(Mean({1, 1, 2}), 1);
}

TEST(SummaryTest, QuantilesAreSamples) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({7}, 0), 7);
  EXPECT_EQ(Quantile({7}, 1), 7);
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.51), 3);
}

TEST(SummaryTest, TextAndJsonSayTheSame) {
  const Summary summary =
      Summarize(*Trace::Create(SampleRecording(), /*is_simulated=*/true));
  const std::string text = SummaryText(summary);
  EXPECT_TRUE(text.starts_with("simulation of 0.001 ms: 12 events, 5 lost"))
      << text;
  EXPECT_NE(text.find("policy.act"), std::string::npos);
  const auto json = nlohmann::json::parse(SummaryJson(summary));
  EXPECT_EQ(json["streams"][0]["met"], 1);
  EXPECT_EQ(json["lost"], 5);
  EXPECT_EQ(json["tracks"][0]["busy_ns"], 600);
  EXPECT_EQ(json["work"].size(), 3u);
}

TEST(SummaryTest, AnEmptyTraceHasAnEmptySummary) {
  const Summary summary = Summarize(*Trace::Create({}, false));
  EXPECT_EQ(summary.length_ns, 0);
  EXPECT_FALSE(SummaryText(summary).empty());
}

}  // namespace
}  // namespace takt::trace
