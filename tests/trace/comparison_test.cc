#include "trace/comparison.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

// Two slots of "a" and one of "b" are planned; one of "a" runs in two parts,
// the other not at all, "b" runs as planned, and "a" once more besides.
Recording PlannedRecording() {
  RecordingMaker maker;
  const uint16_t plan = maker.Track(TrackKind::kPlan, "core 1");
  const uint16_t one = maker.Track(TrackKind::kWorker, "takt-0");
  const uint16_t two = maker.Track(TrackKind::kWorker, "takt-1");
  const uint32_t a = maker.Name("a");
  const uint32_t b = maker.Name("b");
  const uint32_t c = maker.Name("c");
  const auto add = [&](EventKind kind, uint16_t track, int64_t time_ns,
                       int64_t duration_ns, uint32_t name, uint64_t id) {
    Event& event = maker.Add(kind, track, time_ns, duration_ns);
    event.name = name;
    event.id = id;
    event.parent = 9;
  };
  add(EventKind::kPlannedSlot, plan, 100, 50, a, 1);
  add(EventKind::kPlannedSlot, plan, 200, 50, a, 2);
  add(EventKind::kPlannedSlot, plan, 300, 10, b, 3);
  add(EventKind::kDispatch, two, 110, 40, a, 1);
  add(EventKind::kDispatch, one, 120, 60, a, 1);
  add(EventKind::kSlot, one, 300, 10, b, 3);
  add(EventKind::kDispatch, one, 400, 10, a, 8);
  add(EventKind::kDispatch, one, 500, 10, c, 8);  // No plan knows of it.
  return maker.recording;
}

TEST(ComparisonTest, JoinsSlotsAndTheWorkInThem) {
  const Comparison comparison =
      Compare(*Trace::Create(PlannedRecording(), false));
  ASSERT_EQ(comparison.slots.size(), 3u);
  EXPECT_EQ(comparison.run_count, 2u);
  EXPECT_EQ(comparison.unplanned_count, 1u);
  const ComparedSlot& slot = comparison.slots[0];
  EXPECT_TRUE(slot.was_run);
  EXPECT_EQ(slot.name, "a");
  EXPECT_EQ(slot.late_ns(), 10);
  EXPECT_EQ(slot.duration_ns, 70);  // From 110 to 180.
  EXPECT_EQ(slot.planned_track, "core 1");
  EXPECT_EQ(slot.track, "takt-1");
  EXPECT_FALSE(comparison.slots[1].was_run);
  EXPECT_EQ(comparison.mean_late_ns, 5);
  EXPECT_EQ(comparison.max_late_ns, 10);
  EXPECT_EQ(comparison.mean_longer_ns, 10);
  EXPECT_EQ(comparison.q99_longer_ns, 20);
}

TEST(ComparisonTest, TextAndJsonSayTheSame) {
  const Comparison comparison =
      Compare(*Trace::Create(PlannedRecording(), false));
  const std::string text = ComparisonText(comparison);
  EXPECT_TRUE(text.starts_with("3 slots planned, 2 run, 1 run besides\n"));
  EXPECT_NE(text.find("not run"), std::string::npos);
  const auto json = nlohmann::json::parse(ComparisonJson(comparison));
  EXPECT_EQ(json["planned"], 3);
  EXPECT_EQ(json["slots"][0]["start_ns"], 110);
  EXPECT_FALSE(json["slots"][1].contains("start_ns"));
}

TEST(ComparisonTest, WithoutAPlanThereIsNothingToCompare) {
  const Comparison comparison =
      Compare(*Trace::Create(SampleRecording(), false));
  EXPECT_TRUE(comparison.slots.empty());
  EXPECT_EQ(comparison.unplanned_count, 0u);
  EXPECT_EQ(ComparisonText(comparison), "nothing was planned\n");
}

}  // namespace
}  // namespace takt::trace
