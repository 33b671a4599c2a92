#include "base/intrusive_heap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

struct Item {
  int rank = 0;
  uint32_t position = UINT32_MAX;
};

struct LowestFirst {
  static bool Before(const Item& a, const Item& b) { return a.rank < b.rank; }
  static uint32_t& PositionOf(Item& item) { return item.position; }
};
using Heap = IntrusiveHeap<Item, LowestFirst>;

TEST(IntrusiveHeapTest, KeepsTheLowestOnTopWhateverChanges) {
  Random random(11);
  std::vector<Item> items(200);
  Heap heap;
  for (int step = 0; step < 20'000; ++step) {
    Item& item = items[random.Below(200)];
    if (item.position == Heap::kOutside) {
      item.rank = static_cast<int>(random.Below(1000));
      heap.Push(&item);
    } else if (random.Below(2) == 0) {
      heap.Remove(&item);
      EXPECT_EQ(item.position, Heap::kOutside);
    } else {
      item.rank = static_cast<int>(random.Below(1000));
      heap.Update(&item);
    }
    int lowest = 1000;
    size_t count = 0;
    for (const Item& other : items) {
      if (other.position == Heap::kOutside) continue;
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
}  // namespace takt
