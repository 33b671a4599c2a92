#include "base/timer_heap.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using Timer = TimerService::Timer;

TEST(TimerHeapTest, IsEmptyAtFirst) {
  TimerHeap heap;
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.next_deadline_ns(), kInfiniteFuture);
  EXPECT_EQ(heap.PopDue(kInfiniteFuture), nullptr);
}

TEST(TimerHeapTest, PopsOnlyDueTimers) {
  TimerHeap heap;
  Timer timer;
  heap.Push(&timer, 10);
  EXPECT_EQ(heap.PopDue(9), nullptr);
  EXPECT_EQ(heap.PopDue(10), &timer);
  EXPECT_FALSE(timer.is_armed);
  EXPECT_EQ(heap.PopDue(10), nullptr);
}

// Every way to remove one of seven timers leaves the others in order.
TEST(TimerHeapTest, PopsByDeadlineWhateverIsRemoved) {
  const std::vector<int64_t> deadlines = {5, 1, 6, 1, 3, 7, 2};
  for (size_t removed = 0; removed < deadlines.size(); ++removed) {
    TimerHeap heap;
    std::vector<Timer> timers(deadlines.size());
    for (size_t i = 0; i < timers.size(); ++i) {
      heap.Push(&timers[i], deadlines[i]);
    }
    EXPECT_TRUE(heap.Remove(&timers[removed]));
    EXPECT_FALSE(heap.Remove(&timers[removed]));
    std::vector<int64_t> expected = deadlines;
    expected.erase(expected.begin() + static_cast<long>(removed));
    std::sort(expected.begin(), expected.end());
    std::vector<int64_t> popped;
    while (!heap.empty()) {
      EXPECT_EQ(heap.next_deadline_ns(), expected[popped.size()]);
      popped.push_back(heap.PopDue(100)->deadline_ns);
    }
    EXPECT_EQ(popped, expected);
  }
}

TEST(TimerHeapTest, TakesATimerAgain) {
  TimerHeap heap;
  Timer timer;
  heap.Push(&timer, 10);
  EXPECT_EQ(heap.PopDue(10), &timer);
  heap.Push(&timer, 20);
  EXPECT_EQ(heap.next_deadline_ns(), 20);
}

// Random calls, beside a sorted set.
TEST(TimerHeapTest, KeepsTheOrderThroughRandomCalls) {
  std::mt19937 random(5);
  std::vector<Timer> timers(100);
  TimerHeap heap;
  std::set<std::pair<int64_t, Timer*>> expected;
  for (int step = 0; step < 20000; ++step) {
    Timer* const timer = &timers[random() % timers.size()];
    if (timer->is_armed && random() % 2 == 0) {
      expected.erase({timer->deadline_ns, timer});
      EXPECT_TRUE(heap.Remove(timer));
    } else if (!timer->is_armed) {
      heap.Push(timer, random() % 50);
      expected.insert({timer->deadline_ns, timer});
    } else {
      const int64_t now_ns = random() % 20;
      Timer* const due = heap.PopDue(now_ns);
      const bool is_due =
          !expected.empty() && expected.begin()->first <= now_ns;
      ASSERT_EQ(due != nullptr, is_due);
      if (due == nullptr) continue;
      EXPECT_EQ(due->deadline_ns, expected.begin()->first);
      ASSERT_EQ(expected.erase({due->deadline_ns, due}), 1u);
    }
    ASSERT_EQ(heap.empty(), expected.empty());
    ASSERT_EQ(heap.next_deadline_ns(),
              expected.empty() ? kInfiniteFuture : expected.begin()->first);
  }
}

}  // namespace
}  // namespace takt
