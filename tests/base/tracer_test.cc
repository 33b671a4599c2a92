#include "base/tracer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/ref.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

Event Simple(uint64_t id) {
  Event event;
  event.time_ns = 5;
  event.kind = EventKind::kAlloca;
  event.id = id;
  return event;
}

Tracer::Options Room(uint32_t event_count_max) {
  Tracer::Options options;
  options.event_count_max = event_count_max;
  return options;
}

TEST(TracerTest, IsOffWhenCreated) {
  const auto tracer = MakeRef<Tracer>();
  EXPECT_FALSE(tracer->is_on());
  tracer->Record(Simple(1));
  EXPECT_EQ(tracer->NewId(), 0u);
  const Recording recording = tracer->Collect();
  EXPECT_TRUE(recording.events.empty());
  EXPECT_EQ(recording.lost_count, 0u);
  ASSERT_EQ(recording.names.size(), 1u);
  EXPECT_EQ(recording.names[0], "");
}

TEST(TracerTest, CollectsEventsThatAreRecordedWhileItIsOn) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start({}).ok());
  EXPECT_TRUE(tracer->is_on());
  const uint64_t id = tracer->NewId();
  EXPECT_NE(id, 0u);
  EXPECT_NE(tracer->NewId(), id);
  Event event = Simple(id);
  event.name = tracer->Intern("axpy");
  tracer->Record(event);
  tracer->Stop();
  tracer->Record(Simple(99));
  const Recording recording = tracer->Collect();
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].id, id);
  EXPECT_EQ(recording.names[recording.events[0].name], "axpy");
  EXPECT_EQ(recording.tracks[recording.events[0].track].kind,
            TrackKind::kThread);
}

TEST(TracerTest, TheNextStartDropsOldEvents) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start({}).ok());
  tracer->Record(Simple(1));
  tracer->Stop();
  ASSERT_TRUE(tracer->Start({}).ok());
  tracer->Record(Simple(2));
  const Recording recording = tracer->Collect();
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].id, 2u);
}

TEST(TracerTest, TheNextStartMayChangeTheSizeOfRings) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start(Room(2)).ok());
  for (uint64_t i = 0; i < 5; ++i) tracer->Record(Simple(i));
  EXPECT_EQ(tracer->Collect().lost_count, 3u);
  tracer->Stop();
  ASSERT_TRUE(tracer->Start(Room(8)).ok());
  for (uint64_t i = 0; i < 5; ++i) tracer->Record(Simple(i));
  const Recording recording = tracer->Collect();
  EXPECT_EQ(recording.lost_count, 0u);
  EXPECT_EQ(recording.events.size(), 5u);
}

TEST(TracerTest, AcceptsItsOwnOptions) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start(Room(4)).ok());
  for (uint64_t i = 0; i < 6; ++i) tracer->Record(Simple(i));
  Recording recording = tracer->Collect(/*take=*/true);
  EXPECT_EQ(recording.events.size(), 4u);
  EXPECT_EQ(recording.lost_count, 2u);
  tracer->Record(Simple(6));
  recording = tracer->Collect(/*take=*/true);
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].id, 6u);
  EXPECT_EQ(recording.lost_count, 0u);
  EXPECT_TRUE(tracer->Collect().events.empty());
}

TEST(TracerTest, RefusesImpossibleOptions) {
  const auto tracer = MakeRef<Tracer>();
  EXPECT_EQ(tracer->Start(Room(0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(tracer->Start(Room(Tracer::kEventCountMax + 1)).code(),
            absl::StatusCode::kInvalidArgument);
  Tracer::Options options;
  options.thread_count_max = 0;
  EXPECT_EQ(tracer->Start(options).code(), absl::StatusCode::kInvalidArgument);
  options.thread_count_max = Tracer::kThreadCountMax + 1;
  EXPECT_EQ(tracer->Start(options).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(tracer->is_on());
  ASSERT_TRUE(tracer->Start({}).ok());
  EXPECT_EQ(tracer->Start({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TracerTest, EqualNamesHaveEqualNumbers) {
  const auto tracer = MakeRef<Tracer>();
  const uint32_t a = tracer->Intern("a");
  EXPECT_NE(a, 0u);
  EXPECT_NE(tracer->Intern("b"), a);
  EXPECT_EQ(tracer->Intern("a"), a);
  EXPECT_EQ(tracer->Intern(""), 0u);
  TraceName name;
  EXPECT_EQ(name.Find(*tracer, "a"), a);
  EXPECT_EQ(name.Find(*tracer, "not asked for any more"), a);
}

TEST(TracerTest, AnEventMayNameItsTrack) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start({}).ok());
  const uint16_t npu = tracer->AddNewTrack(TrackKind::kNpu, "NPU 0");
  EXPECT_NE(npu, 0u);
  Event event = Simple(1);
  event.track = npu;
  tracer->Record(event);
  event.track = 1234;  // None.
  event.name = 4321;
  tracer->Record(event);
  const Recording recording = tracer->Collect();
  ASSERT_EQ(recording.events.size(), 2u);
  EXPECT_EQ(recording.tracks[recording.events[0].track].name, "NPU 0");
  EXPECT_EQ(recording.tracks[recording.events[1].track].kind,
            TrackKind::kThread);
  EXPECT_EQ(recording.events[1].name, 0u);
}

TEST(TracerTest, TracksThatAreThereTogetherHaveNamesOfTheirOwn) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start({}).ok());
  const auto add = [&](TrackKind kind) {
    return tracer->AddNewTrack(kind, "a");
  };
  const uint16_t first = add(TrackKind::kStream);
  const uint16_t second = add(TrackKind::kStream);
  EXPECT_NE(first, second);
  EXPECT_NE(add(TrackKind::kNpu), first);
  tracer->FreeTrack(first);
  EXPECT_EQ(add(TrackKind::kStream), first);
  const uint16_t third = add(TrackKind::kStream);
  tracer->FreeTrack(second);
  tracer->FreeTrack(third);
  EXPECT_EQ(add(TrackKind::kStream), second);
  EXPECT_EQ(add(TrackKind::kStream), third);
  const Recording recording = tracer->Collect();
  EXPECT_EQ(recording.tracks[first].name, "a");
  EXPECT_EQ(recording.tracks[second].name, "a #2");
  EXPECT_EQ(recording.tracks[third].name, "a #3");
}

TEST(TracerTest, EachThreadHasATrack) {
  const auto tracer = MakeRef<Tracer>();
  Tracer::Options options;
  options.reserved_count = 1;
  ASSERT_TRUE(tracer->Start(options).ok());
  tracer->Record(Simple(1));
  std::thread([&] {
    Tracer::NameThisThread(TrackKind::kWorker, "worker 3");
    tracer->Record(Simple(2));
  }).join();
  const Recording recording = tracer->Collect();
  ASSERT_EQ(recording.events.size(), 2u);
  EXPECT_NE(recording.events[0].track, recording.events[1].track);
  const TrackInfo& worker = recording.tracks[recording.events[1].track];
  EXPECT_EQ(worker.kind, TrackKind::kWorker);
  EXPECT_EQ(worker.name, "worker 3");
}

TEST(TracerTest, CountsEventsOfThreadsWithoutARing) {
  const auto tracer = MakeRef<Tracer>();
  Tracer::Options options;
  options.thread_count_max = 1;
  ASSERT_TRUE(tracer->Start(options).ok());
  tracer->Record(Simple(1));
  std::thread([&] {
    Tracer::NameThisThread(TrackKind::kThread, "one too many");
    for (int i = 0; i < 3; ++i) tracer->Record(Simple(2));
    tracer->Stop();
    options.thread_count_max = 2;
    ASSERT_TRUE(tracer->Start(options).ok());
    tracer->Record(Simple(3));
  }).join();
  const Recording recording = tracer->Collect();
  EXPECT_EQ(recording.lost_count, 0u);  // Since the second start.
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].id, 3u);
}

TEST(TracerTest, ARecordingSaysFromWhenOnItIsComplete) {
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start(Room(4)).ok());
  const auto record = [&](int64_t end_ns) {
    Event event = Simple(1);
    event.time_ns = end_ns - 3;
    event.duration_ns = 3;
    tracer->Record(event);
  };
  for (int64_t i = 1; i <= 4; ++i) record(10 * i);
  EXPECT_EQ(tracer->Collect().complete_ns, 0);
  for (int64_t i = 5; i <= 6; ++i) record(10 * i);
  std::thread([&] { record(100); }).join();  // Its ring has room.
  const Recording recording = tracer->Collect();
  EXPECT_EQ(recording.lost_count, 2u);
  EXPECT_EQ(recording.complete_ns, 30);
}

// A thread uses one tracer after another; one may be at the address of another.
TEST(TracerTest, TwoTracersKeepTheirEventsApart) {
  for (uint64_t i = 0; i < 20; ++i) {
    const auto one = MakeRef<Tracer>();
    const auto two = MakeRef<Tracer>();
    ASSERT_TRUE(one->Start(Room(4)).ok());
    ASSERT_TRUE(two->Start(Room(4)).ok());
    one->Record(Simple(i));
    two->Record(Simple(100 + i));
    one->Record(Simple(i));
    ASSERT_EQ(one->Collect().events.size(), 2u);
    ASSERT_EQ(two->Collect().events.size(), 1u);
    EXPECT_EQ(one->Collect().events[1].id, i);
    EXPECT_EQ(two->Collect().events[0].id, 100 + i);
  }
}

// Collect() returns every event of every thread once, in the order of its
// thread, while the tracer is also started anew.
TEST(TracerTest, ThreadsRecordWhileOthersCollect) {
  constexpr uint64_t kThreads = 3;
  constexpr uint64_t kEvents = 20'000;
  const auto tracer = MakeRef<Tracer>();
  ASSERT_TRUE(tracer->Start(Room(64)).ok());
  std::vector<std::thread> threads;
  std::atomic<uint64_t> running{kThreads};
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEvents; ++i) {
        tracer->Record(Simple(t * kEvents + i));
      }
      --running;
    });
  }
  uint64_t seen = 0;
  std::vector<uint64_t> next(kThreads, 0);
  bool is_last = false;
  while (!is_last) {
    is_last = running == 0;
    const Recording recording = tracer->Collect(/*take=*/true);
    seen += recording.events.size() + recording.lost_count;
    for (const Event& event : recording.events) {
      const uint64_t thread = event.id / kEvents;
      ASSERT_LT(thread, kThreads);
      ASSERT_GE(event.id % kEvents, next[thread]);
      next[thread] = event.id % kEvents + 1;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, kThreads * kEvents);
}

}  // namespace
}  // namespace takt
