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

}  // namespace
}  // namespace takt::sched
