#include "sim/recorded_run.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/trace/sample_trace.h"

namespace takt::sim {
namespace {

using takt::EventKind;
using trace::RecordingMaker;

RecordedRun Read(const Recording& recording) {
  return ReadRun(*trace::Trace::Create(recording, false));
}

TEST(RecordedRunTest, ReadsTheJobsOfStreams) {
  const RecordedRun run = Read(trace::SampleRecording());
  ASSERT_EQ(run.streams.size(), 1u);
  EXPECT_EQ(run.core_count, 2u);
  EXPECT_EQ(run.begin_ns, 1000);
  const RecordedStream& stream = run.streams[0];
  EXPECT_EQ(stream.name, "policy.act");
  ASSERT_EQ(stream.jobs.size(), 1u);
  const RecordedRunJob& job = stream.jobs[0];
  EXPECT_EQ(job.release_ns, 1000);
  EXPECT_EQ(job.end_ns, 1900);
  EXPECT_EQ(job.deadline_ns, 6000);
  ASSERT_EQ(job.operations.size(), 1u);  // Of both workers.
  EXPECT_EQ(job.operations[0].start_ns, 1300);
  EXPECT_EQ(job.operations[0].end_ns, 1700);
  EXPECT_EQ(job.operations[0].work_ns, 700);
  EXPECT_EQ(job.operations[0].tile_count, 8u);
  EXPECT_EQ(job.operations[0].tile_ns, 100);
  EXPECT_EQ(job.work_ns(), 700);
}

// A call of `function` from `begin_ns` on, of `work_ns`.
void AddCall(RecordingMaker& maker, uint16_t track, uint32_t function,
             uint64_t id, int64_t begin_ns, int64_t work_ns) {
  Event& begin = maker.Add(EventKind::kInvocationBegin, track, begin_ns);
  begin.name = function;
  begin.id = id;
  begin.value = kInfiniteFuture;
  begin.detail = 200;
  Event& dispatch =
      maker.Add(EventKind::kDispatch, track, begin_ns + 10, work_ns);
  dispatch.id = 1000 + id;
  dispatch.parent = id;
  dispatch.value = PackTiles(0, 2);
  Event& end =
      maker.Add(EventKind::kInvocationEnd, track, begin_ns + 20 + work_ns);
  end.id = id;
}

TEST(RecordedRunTest, GroupsCallsWithoutAStreamByFunction) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kThread, "main");
  const uint32_t act = maker.Name("act");
  AddCall(maker, track, act, 1, 100, 50);
  AddCall(maker, track, act, 2, 300, 60);
  const RecordedRun run = Read(maker.recording);
  ASSERT_EQ(run.streams.size(), 1u);
  EXPECT_EQ(run.streams[0].name, "act");
  EXPECT_EQ(run.streams[0].priority, 200u);
  ASSERT_EQ(run.streams[0].jobs.size(), 2u);
  EXPECT_EQ(run.streams[0].jobs[1].response_ns(), 80);
  EXPECT_EQ(run.streams[0].jobs[1].work_ns(), 60);
  EXPECT_EQ(run.streams[0].jobs[1].caller_work_ns, 60);
  EXPECT_EQ(run.core_count, 0u);  // A caller's thread is no core.
}

TEST(RecordedRunTest, OverlappingCallsHaveTwoCallers) {
  RecordingMaker maker;
  const uint16_t one = maker.Track(TrackKind::kThread, "one");
  const uint16_t two = maker.Track(TrackKind::kThread, "two");
  const uint32_t detect = maker.Name("detect");
  AddCall(maker, one, detect, 1, 100, 500);
  AddCall(maker, two, detect, 2, 200, 500);
  AddCall(maker, one, detect, 3, 650, 500);
  AddCall(maker, two, detect, 4, 750, 500);
  const RecordedRun run = Read(maker.recording);
  ASSERT_EQ(run.streams.size(), 2u);
  EXPECT_EQ(run.streams[0].name, "detect");
  EXPECT_EQ(run.streams[1].name, "detect #2");
  ASSERT_EQ(run.streams[0].jobs.size(), 2u);
  EXPECT_EQ(run.streams[0].jobs[1].release_ns, 650);
  EXPECT_EQ(run.streams[1].jobs[1].release_ns, 750);
}

TEST(RecordedRunTest, SeparatesTheCallsOfWorkers) {
  RecordingMaker maker;
  const uint16_t one = maker.Track(TrackKind::kWorker, "takt-0");
  const uint16_t two = maker.Track(TrackKind::kWorker, "takt-1");
  const uint32_t detect = maker.Name("detect");
  AddCall(maker, one, detect, 1, 100, 500);
  AddCall(maker, two, detect, 2, 800, 500);
  AddCall(maker, one, detect, 3, 900, 500);
  const RecordedRun run = Read(maker.recording);
  ASSERT_EQ(run.streams.size(), 2u);
  EXPECT_EQ(run.streams[0].jobs.size(), 2u);  // They do not overlap.
  EXPECT_EQ(run.streams[0].jobs[0].caller_work_ns, 0);
}

// Two workers and the backup thread of one of them ran in the place of two
// cores.
TEST(RecordedRunTest, CountsTheCoresOfTheScheduler) {
  RecordingMaker maker;
  const uint32_t detect = maker.Name("detect");
  uint64_t id = 0;
  for (const char* worker : {"takt-0", "takt-1", "takt-b0"}) {
    ++id;
    AddCall(maker, maker.Track(TrackKind::kWorker, worker), detect, id,
            static_cast<int64_t>(id) * 1000, 500);
  }
  EXPECT_EQ(Read(maker.recording).core_count, 3u);
  for (const char* core : {"cores 0", "cores 1"}) {
    maker.Add(EventKind::kSlot, maker.Track(TrackKind::kCore, core), 1000, 500);
  }
  EXPECT_EQ(Read(maker.recording).core_count, 2u);
}

TEST(RecordedRunTest, LeavesOutJobsThatFailed) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kThread, "main");
  const uint32_t act = maker.Name("act");
  AddCall(maker, track, act, 1, 100, 50);
  maker.recording.events.back().value = 13;  // INTERNAL
  Event& begin = maker.Add(EventKind::kInvocationBegin, track, 500);
  begin.name = act;
  begin.id = 2;
  // What its beginning is lost of:
  maker.Add(EventKind::kInvocationEnd, track, 600).id = 3;
  maker.Add(EventKind::kDispatch, track, 700, 10).parent = 3;
  EXPECT_TRUE(Read(maker.recording).streams.empty());
}

TEST(RecordedRunTest, AnAsynchronousCallEndsWithItsOperations) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "takt-0");
  Event& begin = maker.Add(EventKind::kInvocationBegin, track, 100);
  begin.name = maker.Name("act");
  begin.id = 1;
  Event& end = maker.Add(EventKind::kInvocationEnd, track, 120);
  end.id = 1;
  end.detail = 1;
  Event& done = maker.Add(EventKind::kOperationDone, track, 900);
  done.id = 5;
  done.parent = 1;
  const RecordedRun run = Read(maker.recording);
  ASSERT_EQ(run.streams.size(), 1u);
  EXPECT_EQ(run.streams[0].jobs[0].end_ns, 900);
}

}  // namespace
}  // namespace takt::sim
