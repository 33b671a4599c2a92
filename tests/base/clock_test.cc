#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace takt {
namespace {

TEST(ClockTest, NeverRunsBackwards) {
  int64_t last = NowNs();
  for (int i = 0; i < 10'000; ++i) {
    const int64_t now = NowNs();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, DeadlineIsNowAndTheTimeout) {
  EXPECT_EQ(DeadlineAfter(1'000, 5), 1'005);
}

TEST(ClockTest, NegativeTimeoutIsNoTimeAtAll) {
  EXPECT_EQ(DeadlineAfter(1'000, 0), 1'000);
  EXPECT_EQ(DeadlineAfter(1'000, -5), 1'000);
}

TEST(ClockTest, AnInfiniteTimeoutEndsNeverWhateverTheTimeIs) {
  EXPECT_EQ(DeadlineAfter(-1'000, kInfiniteFuture), kInfiniteFuture);
  EXPECT_EQ(DeadlineAfter(INT64_MIN, kInfiniteFuture), kInfiniteFuture);
  EXPECT_EQ(DeadlineAfter(-1'000, kInfiniteFuture - 1),
            kInfiniteFuture - 1'001);
}

TEST(ClockTest, DeadlineSaturates) {
  EXPECT_EQ(DeadlineAfter(1'000, kInfiniteFuture), kInfiniteFuture);
  EXPECT_EQ(DeadlineAfter(1'000, kInfiniteFuture - 1'000), kInfiniteFuture);
  EXPECT_EQ(DeadlineAfter(1'000, kInfiniteFuture - 1'001), kInfiniteFuture - 1);
}

TEST(ClockTest, ADeadlineHasPassedOnceItIsReached) {
  constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
  EXPECT_TRUE(HasPassed(NowNs()));
  EXPECT_FALSE(HasPassed(NowNs() + kHourNs));
  EXPECT_FALSE(HasPassed(kInfiniteFuture));
}

}  // namespace
}  // namespace takt
