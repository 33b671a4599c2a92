#include "sched/fair_clock.h"

#include <limits>

#include "gtest/gtest.h"

namespace takt::sched {
namespace {

TEST(FairClockTest, GoesOnWithTheOperationsThatStart) {
  FairClock clock;
  clock.OnStart(40);
  clock.OnStart(30);
  EXPECT_EQ(clock.now(), 40);
}

TEST(FairQueueTest, TagsAreApartByWorkOverWeight) {
  FairQueue queue(4);
  EXPECT_EQ(queue.Add(0, 100), 0);
  EXPECT_EQ(queue.Add(0, 200), 25);
  EXPECT_EQ(queue.Add(0, 0), 75);
}

TEST(FairQueueTest, APauseEarnsNothing) {
  FairQueue queue(1);
  queue.Add(0, 100);
  EXPECT_EQ(queue.Add(5'000, 100), 5'000);
}

TEST(FairQueueTest, WhatWasNotExpectedCountsForTheNext) {
  FairQueue queue(2);
  queue.Add(0, 100);
  queue.Correct(100, 300);
  EXPECT_EQ(queue.Add(0, 100), 150);
  queue.Correct(100, 0);
  EXPECT_EQ(queue.Add(0, 0), 150);
}

TEST(FairQueueTest, NoWeightIsOne) {
  FairQueue queue(0);
  queue.Add(0, 7);
  EXPECT_EQ(queue.Add(0, 0), 7);
}

TEST(FairQueueTest, ADurationWithoutEndIsNoOverflow) {
  FairQueue queue(1);
  for (int i = 0; i < 9; ++i) {
    queue.Add(0, std::numeric_limits<int64_t>::max() / 2);
  }
  const int64_t tag = queue.Add(0, 1);
  EXPECT_GT(tag, 0);
  EXPECT_GE(queue.Add(0, 1), tag);
}

// At the end of its range a queue stays there: no tag falls back, none is
// beyond the end, and corrections bring it back.
TEST(FairQueueTest, TagsStayInRange) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  FairQueue queue(1);
  queue.Add(0, kLast);
  const int64_t end = queue.Add(0, 0);
  queue.Correct(0, kLast);
  EXPECT_EQ(queue.Add(0, 0), end);
  queue.Correct(0, kLast - end + 1);
  EXPECT_EQ(queue.Add(0, kLast), end);
  EXPECT_EQ(queue.Add(kLast, kLast), end);
  queue.Correct(end, 0);
  EXPECT_EQ(queue.Add(0, 0), 0);
  queue.Correct(kLast, 0);
  EXPECT_EQ(queue.Add(0, 0), 0);
  queue.Correct(0, 7);
  EXPECT_EQ(queue.Add(0, 0), 7);
}

}  // namespace
}  // namespace takt::sched
