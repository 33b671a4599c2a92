#include "base/event_ring.h"

#include <sys/resource.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt {
namespace {

// An event all of whose fields say which one it is.
Event Numbered(uint64_t number) {
  Event event;
  event.time_ns = static_cast<int64_t>(number);
  event.duration_ns = static_cast<int64_t>(number);
  event.name = static_cast<uint32_t>(number);
  event.id = number;
  event.parent = number;
  event.value = static_cast<int64_t>(number);
  return event;
}

bool IsWhole(const Event& event) {
  const auto number = static_cast<int64_t>(event.id);
  return event.time_ns == number && event.duration_ns == number &&
         event.name == static_cast<uint32_t>(number) &&
         event.parent == event.id && event.value == number;
}

int64_t PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// A thread that records its first event, perhaps before a deadline, does not
// wait for 200 MB.
TEST(EventRingTest, UsesMemoryOnlyAsItIsWritten) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory is touched with each page";
#endif
  constexpr uint32_t kCount = 1 << 22;
  constexpr int64_t kPages = int64_t{kCount} * sizeof(Event) / 4096;
  const int64_t before = PageFaults();
  const auto ring = EventRing::Create(kCount);
  ASSERT_NE(ring, nullptr);
  ring->Write(Numbered(1));
  EXPECT_LT(PageFaults() - before, kPages / 2);
  const auto touched = EventRing::Create(kCount);
  ASSERT_NE(touched, nullptr);
  touched->Touch();
  const int64_t touched_before = PageFaults();
  for (uint64_t i = 0; i < kCount / 64; ++i) touched->Write(Numbered(i));
  EXPECT_LT(PageFaults() - touched_before, kPages / 128);
  std::vector<Event> events;
  EXPECT_EQ(ring->Read(0, &events), 0u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(IsWhole(events[0]));
}

TEST(EventRingTest, KeepsTheEventsInOrder) {
  const auto ring = EventRing::Create(8);
  EXPECT_EQ(ring->capacity(), 8u);
  std::vector<Event> events;
  EXPECT_EQ(ring->Read(0, &events), 0u);
  EXPECT_TRUE(events.empty());
  Event event = Numbered(3);
  event.kind = EventKind::kAlloca;
  event.detail = 9;
  event.track = 77;
  ring->Write(event);
  EXPECT_EQ(ring->Read(0, &events), 0u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(IsWhole(events[0]));
  EXPECT_EQ(events[0].kind, EventKind::kAlloca);
  EXPECT_EQ(events[0].detail, 9u);
  EXPECT_EQ(events[0].track, 77u);
}

TEST(EventRingTest, OverwritesTheOldestEventsAndCountsThem) {
  const auto ring = EventRing::Create(8);
  for (uint64_t i = 0; i < 21; ++i) ring->Write(Numbered(i));
  std::vector<Event> events;
  EXPECT_EQ(ring->Read(0, &events), 13u);
  ASSERT_EQ(events.size(), 8u);
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(events[i].id, 13 + i);
  EXPECT_EQ(ring->written_count(), 21u);
}

TEST(EventRingTest, ReadsFromTheGivenPosition) {
  const auto ring = EventRing::Create(8);
  for (uint64_t i = 0; i < 10; ++i) ring->Write(Numbered(i));
  std::vector<Event> events;
  EXPECT_EQ(ring->Read(7, &events), 0u);
  EXPECT_EQ(ring->Read(9, &events), 0u);  // Appends.
  EXPECT_EQ(ring->Read(10, &events), 0u);
  EXPECT_EQ(ring->Read(11, &events), 0u);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].id, 7u);
  EXPECT_EQ(events[3].id, 9u);
}

TEST(EventRingTest, RoundsItsCapacityUp) {
  EXPECT_EQ(EventRing::Create(1)->capacity(), 1u);
  EXPECT_EQ(EventRing::Create(5)->capacity(), 8u);
}

// While the ring overflows many times, a reader gets whole events in order.
// Together with the number of lost events these are all.
TEST(EventRingTest, NeverReturnsHalfAnEventDuringAWrite) {
  constexpr uint64_t kCount = 200'000;
  const auto ring = EventRing::Create(16);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 0; i < kCount; ++i) ring->Write(Numbered(i));
    done = true;
  });
  uint64_t next = 0;
  bool is_last = false;
  while (!is_last) {
    is_last = done;
    std::vector<Event> events;
    next += ring->Read(next, &events);
    for (const Event& event : events) {
      ASSERT_TRUE(IsWhole(event));
      ASSERT_EQ(event.id, next);
      ++next;
    }
  }
  writer.join();
  EXPECT_EQ(next, kCount);
}

}  // namespace
}  // namespace takt
