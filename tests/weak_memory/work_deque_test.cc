// The deque of the executor under the memory model: its owner against thieves.
#include "exec/work_deque.h"

#include "gtest/gtest.h"
#include "tests/weak_memory/model.h"

namespace takt::exec {
namespace {

using weak_memory::Plain;

// The owner pushes `kItems` and pops as many; each thief steals once. Each item
// is taken once, and its taker sees what was written to it before the push.
template <template <typename> class Atomic, int kItems, int kThieves>
struct OwnerAgainstThieves
    : rl::test_suite<OwnerAgainstThieves<Atomic, kItems, kThieves>,
                     kThieves + 1> {
  struct Item {
    Plain<int> content;
    int taken_count = 0;  // By one thread, as is checked.
  };
  WorkDeque<Item, 2, Atomic> deque;
  Item items[kItems];

  static void Take(Item* item) {
    if (item == nullptr) return;
    RL_ASSERT(item->content.get() == 7);
    ++item->taken_count;
  }
  void thread(unsigned index) {
    if (index > 0) {
      Take(deque.Steal());
      return;
    }
    for (Item& item : items) {
      item.content.set(7);
      RL_ASSERT(deque.Push(&item));
    }
    for (int i = 0; i < kItems; ++i) Take(deque.Pop());
  }
  void after() {
    while (Item* item = deque.Steal()) ++item->taken_count;
    for (Item& item : items) RL_ASSERT(item.taken_count == 1);
  }
};

TEST(WorkDequeWeakMemoryTest, AThiefAndTheOwnerTakeEachItemOnce) {
  const auto outcome =
      weak_memory::RunAll<OwnerAgainstThieves<weak_memory::Atomic, 2, 1>>();
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 100u);
}

TEST(WorkDequeWeakMemoryTest, TwoThievesAndTheOwnerTakeOneItemOnce) {
  const auto outcome =
      weak_memory::RunAll<OwnerAgainstThieves<weak_memory::Atomic, 1, 2>>(5);
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 100u);
}

TEST(WorkDequeWeakMemoryTest, RelaxedOperationsWouldBeWrong) {
  const auto outcome = weak_memory::RunAll<
      OwnerAgainstThieves<weak_memory::RelaxedAtomic, 1, 1>>();
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace takt::exec
