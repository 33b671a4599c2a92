// Flags and the thread that sleeps until one is raised, under the memory model.
#include "base/sleep_word.h"

#include "gtest/gtest.h"
#include "tests/weak_memory/model.h"

namespace takt {
namespace {

using weak_memory::Futex;
using weak_memory::Plain;

constexpr uint32_t kFlags[] = {1, 2};

// Each raiser writes its message and raises its flag. The sleeper sleeps until
// it has seen every flag, and reads the message behind each. relacy reports a
// sleeper that nobody wakes, and a message that is read while it is written.
template <template <typename> class Atomic, int kRaisers>
struct Messages : rl::test_suite<Messages<Atomic, kRaisers>, kRaisers + 1> {
  Atomic<uint32_t> word{0};
  Futex futex;
  Plain<int> messages[kRaisers];

  void thread(unsigned index) {
    if (index > 0) {
      messages[index - 1].set(7);
      sleep_word::Raise(word, kFlags[index - 1], [this] { futex.Wake(); });
      return;
    }
    for (int seen = 0; seen < kRaisers;) {
      const uint32_t raised = sleep_word::Sleep(word, [this] {
        futex.Wait(word, sleep_word::kAsleep);
        return true;
      });
      RL_ASSERT(raised != 0);
      for (int i = 0; i < kRaisers; ++i) {
        if ((raised & kFlags[i]) == 0) continue;
        word.fetch_and(~kFlags[i], std::memory_order_acq_rel);
        RL_ASSERT(messages[i].get() == 7);
        ++seen;
      }
    }
  }
};

TEST(SleepWordWeakMemoryTest, NoWakeIsLost) {
  const auto outcome = weak_memory::RunAll<Messages<weak_memory::Atomic, 1>>();
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 5u);
}

TEST(SleepWordWeakMemoryTest, NoWakeOfTwoIsLost) {
  const auto outcome = weak_memory::RunAll<Messages<weak_memory::Atomic, 2>>(3);
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 100u);
}

TEST(SleepWordWeakMemoryTest, RelaxedOperationsWouldBeWrong) {
  const auto outcome =
      weak_memory::RunAll<Messages<weak_memory::RelaxedAtomic, 1>>();
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace takt
