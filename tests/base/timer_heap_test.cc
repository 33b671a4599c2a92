#include "base/timer_heap.h"

#include <algorithm>
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
  EXPECT_EQ(timer.position, Timer::kIdle);
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

}  // namespace
}  // namespace takt
