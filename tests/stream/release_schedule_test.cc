#include "stream/release_schedule.h"

#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt::stream {
namespace {

TEST(ReleaseScheduleTest, ReleasesOncePerPeriod) {
  ReleaseSchedule schedule(10);
  schedule.Start(100, 50);
  for (int64_t time_ns = 100; time_ns < 200; time_ns += 10) {
    EXPECT_EQ(schedule.next_ns(), time_ns);
    EXPECT_EQ(schedule.Advance(time_ns + 3), 0u);
  }
}

TEST(ReleaseScheduleTest, APassedStartTimeKeepsThePhase) {
  const struct {
    int64_t start_ns, now_ns, first_ns;
  } kCases[] = {{100, 100, 100}, {100, 101, 110}, {100, 110, 110},
                {100, 111, 120}, {3, 1000, 1003}, {-7, 1000, 1003}};
  for (const auto& test : kCases) {
    ReleaseSchedule schedule(10);
    schedule.Start(test.start_ns, test.now_ns);
    EXPECT_EQ(schedule.next_ns(), test.first_ns)
        << test.start_ns << " at " << test.now_ns;
  }
}

TEST(ReleaseScheduleTest, MissedReleasesAreSkippedAndCounted) {
  ReleaseSchedule schedule(10);
  schedule.Start(100, 0);
  EXPECT_EQ(schedule.Advance(109), 0u);
  EXPECT_EQ(schedule.next_ns(), 110);
  EXPECT_EQ(schedule.Advance(120), 1u);
  EXPECT_EQ(schedule.next_ns(), 130);
  EXPECT_EQ(schedule.Advance(1234), 110u);
  EXPECT_EQ(schedule.next_ns(), 1240);
}

TEST(ReleaseScheduleTest, AScheduleWithoutAPeriodKeepsAPassedStartTime) {
  ReleaseSchedule schedule(0);
  schedule.Start(100, 5000);
  EXPECT_EQ(schedule.next_ns(), 100);
}

TEST(ReleaseScheduleTest, AcceptsAnyStartTimeAndPeriod) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  ReleaseSchedule schedule(10);
  schedule.Start(kMin, 1000);
  EXPECT_GE(schedule.next_ns(), 1000);
  EXPECT_LT(schedule.next_ns(), 1010);
  ReleaseSchedule slow(kInfiniteFuture);
  slow.Start(0, 1000);
  EXPECT_EQ(slow.next_ns(), kInfiniteFuture);
  slow.Start(2000, 1000);
  EXPECT_EQ(slow.Advance(2000), 0u);
  EXPECT_EQ(slow.next_ns(), kInfiniteFuture);
}

}  // namespace
}  // namespace takt::stream
