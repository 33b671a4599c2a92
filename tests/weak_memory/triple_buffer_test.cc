// The latest value of a stream under the memory model.
#include "stream/triple_buffer.h"

#include "gtest/gtest.h"
#include "tests/weak_memory/model.h"

namespace takt::stream {
namespace {

// The writer publishes 1, 2, ...; the reader takes `kTakes` times. It never
// sees a place that the writer writes, and no value after a newer one.
template <template <typename> class Atomic, int kValues, int kTakes>
struct WriterAndReader
    : rl::test_suite<WriterAndReader<Atomic, kValues, kTakes>, 2> {
  TripleBuffer<Atomic> buffer;
  weak_memory::Plain<int> places[TripleBuffer<>::kPlaceCount];
  int last = 0;  // The reader's.

  void thread(unsigned index) {
    if (index == 0) {
      for (int value = 1; value <= kValues; ++value) {
        places[buffer.back()].set(value);
        buffer.Publish();
      }
      return;
    }
    for (int i = 0; i < kTakes; ++i) Take();
  }
  void Take() {
    bool is_new = false;
    const uint32_t place = buffer.Take(&is_new);
    if (place == TripleBuffer<>::kPlaceCount) {
      RL_ASSERT(!is_new && last == 0);
      return;
    }
    const int value = places[place].get();
    RL_ASSERT(is_new ? value > last : value == last);
    last = value;
  }
  void after() {
    Take();
    RL_ASSERT(last == kValues);
  }
};

TEST(TripleBufferWeakMemoryTest, TheReaderSeesWholeValuesInOrder) {
  const auto outcome =
      weak_memory::RunAll<WriterAndReader<weak_memory::Atomic, 3, 2>>();
  EXPECT_TRUE(outcome.is_right) << outcome.report;
  EXPECT_GT(outcome.execution_count, 20u);
}

TEST(TripleBufferWeakMemoryTest, RelaxedOperationsWouldBeWrong) {
  const auto outcome =
      weak_memory::RunAll<WriterAndReader<weak_memory::RelaxedAtomic, 2, 1>>();
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace takt::stream
