// The executor's event count under the memory model: the sleepers and the
// publishers of exec/idle_list.h.
#include "exec/idle_list.h"

#include "base/sleep_word.h"
#include "gtest/gtest.h"
#include "tests/weak_memory/model.h"

namespace takt::exec {
namespace {

int Any(const IdleNode&) { return 0; }

// One sleeper takes an item of work, which one publisher adds. kIsCareful: the
// sleeper looks a second time before it sleeps.
template <template <typename> class Atomic, bool kIsCareful>
struct EventCount : rl::test_suite<EventCount<Atomic, kIsCareful>, 2> {
  static constexpr uint32_t kWake = 1;
  IdleList<Atomic, weak_memory::Mutex> list;
  IdleNode node;
  Atomic<uint32_t> word{0};  // The sleeper's.
  weak_memory::Futex futex;
  Atomic<uint32_t> work{0};
  weak_memory::Plain<int> item;

  bool HasWork() { return work.load(std::memory_order_seq_cst) != 0; }
  void thread(unsigned index) {
    if (index == 0) {
      item.set(7);
      work.store(1, std::memory_order_seq_cst);
      if (!list.HasIdle()) return;
      if (list.Take(Any, [](IdleNode&) {}) != nullptr) {
        sleep_word::Raise(word, kWake, [this] { futex.Wake(); });
      }
      return;
    }
    if (!HasWork()) {
      list.Announce(node);
      // Of the one who took the node, a flag comes in any case.
      if (!kIsCareful || !HasWork() || !list.Withdraw(node)) {
        sleep_word::Sleep(word, [this] {
          futex.Wait(word, sleep_word::kAsleep);
          return true;
        });
      }
    }
    RL_ASSERT(HasWork());
    RL_ASSERT(item.get() == 7);
  }
};

TEST(IdleListWeakMemoryTest, NoWakeIsLost) {
  const auto outcome =
      weak_memory::RunAll<EventCount<weak_memory::Atomic, true>>();
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 20u);
}

TEST(IdleListWeakMemoryTest, AWakeIsLostWithoutTheSecondLook) {
  const auto outcome =
      weak_memory::RunAll<EventCount<weak_memory::Atomic, false>>();
  EXPECT_FALSE(outcome.is_right);
}

TEST(IdleListWeakMemoryTest, RelaxedOperationsWouldBeWrong) {
  const auto outcome =
      weak_memory::RunAll<EventCount<weak_memory::RelaxedAtomic, true>>();
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace takt::exec
