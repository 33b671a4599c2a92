// The ring of events under the memory model.
#include "base/overwriting_ring.h"

#include "gtest/gtest.h"
#include "tests/weak_memory/model.h"

namespace takt {
namespace {

// The writer writes kItems items of two words; item i is (i + 1, i + 1). The
// reader copies all that there are, and what it keeps is whole and in order.
template <template <typename> class Atomic, uint64_t kCapacity, uint64_t kItems>
struct WriterAndReader
    : rl::test_suite<WriterAndReader<Atomic, kCapacity, kItems>, 2> {
  static constexpr size_t kWords = 2;
  using Ring = OverwritingRing<kWords, Atomic>;
  Ring ring{kCapacity};
  Atomic<uint64_t> slots[kCapacity * kWords];

  void thread(unsigned index) {
    if (index == 0) {
      for (uint64_t i = 1; i <= kItems; ++i) ring.Write(slots, {i, i});
      return;
    }
    Read();
  }
  uint64_t Read() {
    const uint64_t end = ring.written_count();
    const uint64_t begin = end - (end < kCapacity ? end : kCapacity);
    typename Ring::Words items[kCapacity];
    for (uint64_t i = begin; i < end; ++i) {
      items[i - begin] = ring.Read(slots, i);
    }
    const uint64_t kept = ring.FirstKept();
    uint64_t count = 0;
    for (uint64_t i = begin; i < end; ++i) {
      if (i < kept) continue;
      RL_ASSERT(items[i - begin][0] == i + 1 && items[i - begin][1] == i + 1);
      ++count;
    }
    return count;
  }
  void after() { RL_ASSERT(Read() == kCapacity); }
};

TEST(OverwritingRingWeakMemoryTest, KeptEventsAreWhole) {
  const auto one =
      weak_memory::RunAll<WriterAndReader<weak_memory::Atomic, 1, 3>>();
  EXPECT_TRUE(one.is_right) << one.report;
  EXPECT_GT(one.execution_count, 100u);
  const auto two =
      weak_memory::RunAll<WriterAndReader<weak_memory::Atomic, 2, 3>>();
  EXPECT_TRUE(two.is_right) << two.report;
  EXPECT_GT(two.execution_count, 100u);
}

TEST(OverwritingRingWeakMemoryTest, RelaxedOperationsWouldBeWrong) {
  const auto outcome =
      weak_memory::RunAll<WriterAndReader<weak_memory::RelaxedAtomic, 1, 2>>();
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace takt
