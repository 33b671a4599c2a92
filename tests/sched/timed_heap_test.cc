#include "sched/timed_heap.h"

#include <vector>

#include "gtest/gtest.h"
#include "sched/job.h"

namespace takt::sched {
namespace {

constexpr auto kAll = [](const auto&) { return true; };

JobId Job(uint32_t index) { return {index, 1}; }

TEST(TimedHeapTest, GivesTheEarliestFirst) {
  TimedHeap<JobId> heap;
  EXPECT_EQ(heap.next_ns(), kInfiniteFuture);
  for (const uint32_t at : {30, 10, 40, 20}) heap.Push(at, Job(at), 4, kAll);
  for (const uint32_t at : {10, 20, 30, 40}) {
    EXPECT_EQ(heap.next_ns(), at);
    EXPECT_FALSE(heap.PopUntil(at - 1).has_value());
    const auto entry = heap.PopUntil(at);
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->at_ns, at);
    EXPECT_EQ(entry->id, Job(at));
  }
  EXPECT_FALSE(heap.PopUntil(kInfiniteFuture).has_value());
  EXPECT_EQ(heap.size(), 0u);
}

TEST(TimedHeapTest, KeepsItsOrderWithoutWhatIsRemoved) {
  TimedHeap<JobId> heap;
  for (uint32_t at = 20; at > 0; --at) heap.Push(at, Job(at), 20, kAll);
  heap.RemoveIf([](const auto& entry) { return entry.at_ns % 3 == 1; });
  int64_t before_ns = 0;
  for (size_t left = 13; left > 0; --left) {
    ASSERT_EQ(heap.size(), left);
    const int64_t at_ns = heap.PopUntil(kInfiniteFuture)->at_ns;
    EXPECT_GT(at_ns, before_ns);
    EXPECT_NE(at_ns % 3, 1);
    before_ns = at_ns;
  }
}

TEST(TimedHeapTest, DoesNotGrowByWhatHasEnded) {
  TimedHeap<JobId> heap;
  for (uint32_t i = 0; i < 10'000; ++i) {
    // The last three are needed.
    heap.Push(1'000'000 - i, Job(i), 3,
              [i](const auto& entry) { return entry.id.index + 3 >= i; });
    ASSERT_LE(heap.size(), 100u);
  }
  std::vector<uint32_t> last;
  for (int i = 0; i < 3; ++i)
    last.push_back(heap.PopUntil(kInfiniteFuture)->id.index);
  EXPECT_EQ(last, (std::vector<uint32_t>{9'999, 9'998, 9'997}));
}

}  // namespace
}  // namespace takt::sched
