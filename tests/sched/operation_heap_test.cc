#include "sched/operation_heap.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

struct Item {
  int rank = 0;
  uint32_t heap_position = kNotInHeap;
};

TEST(OperationHeapTest, KeepsTheLowestOnTopWhateverChanges) {
  Random random(11);
  std::vector<Item> items(200);
  OperationHeap<Item> heap;
  for (int step = 0; step < 20'000; ++step) {
    Item& item = items[random.Below(200)];
    if (item.heap_position == kNotInHeap) {
      item.rank = static_cast<int>(random.Below(1000));
      heap.Push(&item);
    } else if (random.Below(2) == 0) {
      heap.Remove(&item);
      EXPECT_EQ(item.heap_position, kNotInHeap);
    } else {
      item.rank = static_cast<int>(random.Below(1000));
      heap.Update(&item);
    }
    int lowest = 1000;
    size_t count = 0;
    for (const Item& other : items) {
      if (other.heap_position == kNotInHeap) continue;
      lowest = std::min(lowest, other.rank);
      ++count;
    }
    ASSERT_EQ(heap.size(), count);
    ASSERT_EQ(heap.empty(), count == 0);
    if (count > 0) {
      ASSERT_EQ(heap.top()->rank, lowest);
    }
  }
}

}  // namespace
}  // namespace takt::sched
