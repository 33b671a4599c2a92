#include "trace/trace.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

TEST(TraceTest, PutsEventsInOrderOfTheirBegins) {
  const auto trace = Trace::Create(SampleRecording(), /*is_simulated=*/false);
  ASSERT_EQ(trace->events().size(), 12u);
  for (size_t i = 1; i < trace->events().size(); ++i) {
    EXPECT_LE(trace->events()[i - 1].time_ns, trace->events()[i].time_ns);
  }
  EXPECT_EQ(trace->events()[2].kind, EventKind::kProgram);
  EXPECT_EQ(trace->begin_ns(), 1000);
  EXPECT_EQ(trace->end_ns(), 1900);
  EXPECT_EQ(trace->lost_count(), 5u);
  EXPECT_FALSE(trace->is_simulated());
}

TEST(TraceTest, PutsTheLongerOfTwoThatBeginAtOnceFirst) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "a");
  maker.Add(EventKind::kDispatch, track, 10, 5);
  maker.Add(EventKind::kProgram, track, 10, 50);
  const auto trace = Trace::Create(maker.recording, false);
  EXPECT_EQ(trace->events()[0].kind, EventKind::kProgram);
}

TEST(TraceTest, KeepsTheTracksThatSomethingIsOn) {
  const auto trace = Trace::Create(SampleRecording(), false);
  ASSERT_EQ(trace->tracks().size(), 5u);
  EXPECT_EQ(trace->tracks()[0].name, "takt-0");
  EXPECT_EQ(trace->TrackOf(trace->events()[0]).name, "policy.act");
  EXPECT_EQ(trace->NameOf(trace->events()[0]), "policy.act");
}

TEST(TraceTest, LeavesOutUndefinedValues) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "a");
  maker.Add(EventKind::kDispatch, 99, 10, 5);                // No track.
  maker.Add(static_cast<EventKind>(250), track, 10, 5);      // No kind.
  maker.Add(EventKind::kDispatch, track, 20, -5).name = 77;  // No name.
  maker.Add(EventKind::kAlloca, track, 30, 5);               // No span.
  maker.Add(EventKind::kDispatch, track, 40,
            std::numeric_limits<int64_t>::max());  // Beyond all time.
  const auto trace = Trace::Create(maker.recording, false);
  ASSERT_EQ(trace->events().size(), 3u);
  EXPECT_EQ(trace->events()[0].name, 0u);
  EXPECT_EQ(trace->events()[0].duration_ns, 0);
  EXPECT_EQ(trace->events()[1].duration_ns, 0);
  EXPECT_EQ(trace->events()[2].end_ns(), std::numeric_limits<int64_t>::max());
}

TEST(TraceTest, MayBeEmpty) {
  const auto trace = Trace::Create({}, true);
  EXPECT_TRUE(trace->events().empty());
  EXPECT_TRUE(trace->tracks().empty());
  EXPECT_EQ(trace->begin_ns(), 0);
  EXPECT_EQ(trace->end_ns(), 0);
  EXPECT_TRUE(trace->is_simulated());
}

}  // namespace
}  // namespace takt::trace
