#include "stream/value_slot.h"

#include <thread>
#include <vector>

#include "base/object.h"
#include "gtest/gtest.h"

namespace takt::stream {
namespace {

vm::Value Number(int64_t value) { return vm::Value::I64(value); }

class Counted final : public Object {
 public:
  static constexpr ObjectType kType{"test.counted"};
  Counted() : Object(&kType) {}
};

TEST(LatestValuesTest, TheReaderGetsTheLatestEntryOnce) {
  LatestValues slot(1);
  bool is_new = true;
  EXPECT_EQ(slot.Take(&is_new), nullptr);
  EXPECT_FALSE(is_new);
  for (int64_t i = 1; i <= 3; ++i) {
    const vm::Value value = Number(i);
    slot.back().Set({&value, 1});
    slot.Publish();
  }
  const ValueEntry* entry = slot.Take(&is_new);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(entry->values()[0].i64(), 3);
  EXPECT_EQ(slot.Take(&is_new), entry);
  EXPECT_FALSE(is_new);
}

TEST(LatestValuesTest, EntriesHoldAndReleaseReferences) {
  const auto object = Ref<Counted>::Adopt(new Counted);
  {
    LatestValues slot(1);
    const vm::Value value = vm::Value::FromRef(object);
    for (int i = 0; i < 5; ++i) {
      slot.back().Set({&value, 1});
      slot.Publish();
    }
    EXPECT_GT(object->reference_count(), 2);
    EXPECT_LE(object->reference_count(), 5);
  }
  EXPECT_EQ(object->reference_count(), 1);
}

// The reader sees whole entries only, and never an older one than before.
TEST(LatestValuesTest, WriterAndReaderNeverShareAnEntry) {
  constexpr int64_t kCount = 200000;
  LatestValues slot(4);
  std::thread writer([&] {
    for (int64_t i = 1; i <= kCount; ++i) {
      const std::vector<vm::Value> values(4, Number(i));
      slot.back().Set(values);
      slot.back().sequence = static_cast<uint64_t>(i);
      slot.Publish();
    }
  });
  int64_t last = 0;
  while (last < kCount) {
    bool is_new = false;
    const ValueEntry* entry = slot.Take(&is_new);
    if (entry == nullptr || !is_new) std::this_thread::yield();
    if (entry == nullptr) continue;
    const int64_t first = entry->values()[0].i64();
    ASSERT_EQ(is_new, first > last);
    ASSERT_GE(first, last);
    for (const vm::Value& value : entry->values()) {
      ASSERT_EQ(value.i64(), first);
    }
    ASSERT_EQ(entry->sequence, static_cast<uint64_t>(first));
    last = first;
  }
  writer.join();
}

TEST(ValueEntryTest, StoredMemoryIsForgottenWhenValuesAreSet) {
  ValueEntry entry(2);
  uint8_t bytes[2];
  EXPECT_FALSE(entry.is_stored(0));
  entry.SetStored(0, Number(1), {&bytes[0], 1});
  EXPECT_EQ(entry.storage(0).data, &bytes[0]);
  EXPECT_FALSE(entry.is_stored());
  entry.SetStored(1, Number(2), {&bytes[1], 1});
  EXPECT_TRUE(entry.is_stored());
  EXPECT_EQ(entry.values()[1].i64(), 2);
  const vm::Value values[2] = {Number(3), Number(4)};
  entry.Set(values);
  EXPECT_FALSE(entry.is_stored());
  EXPECT_FALSE(entry.is_stored(1));
}

TEST(ValueQueueTest, KeepsOrderAndRefusesWhenFull) {
  ValueQueue queue(1, 2);
  EXPECT_EQ(queue.first(), nullptr);
  for (int round = 0; round < 3; ++round) {
    for (int64_t i = 0; i < 2; ++i) {
      const vm::Value value = Number(i);
      ASSERT_NE(queue.next(), nullptr);
      queue.next()->Set({&value, 1});
      queue.Put();
    }
    EXPECT_EQ(queue.next(), nullptr);
    for (int64_t i = 0; i < 2; ++i) {
      ASSERT_NE(queue.first(), nullptr);
      EXPECT_EQ(queue.first()->values()[0].i64(), i);
      queue.Pop();
    }
    EXPECT_EQ(queue.first(), nullptr);
  }
}

TEST(ValueQueueTest, LosesNothingBetweenTwoThreads) {
  constexpr int64_t kCount = 100000;
  ValueQueue queue(1, 7);
  std::thread writer([&] {
    for (int64_t i = 0; i < kCount;) {
      ValueEntry* entry = queue.next();
      if (entry == nullptr) {
        std::this_thread::yield();
        continue;
      }
      const vm::Value value = Number(i++);
      entry->Set({&value, 1});
      queue.Put();
    }
  });
  for (int64_t i = 0; i < kCount;) {
    const ValueEntry* entry = queue.first();
    if (entry == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(entry->values()[0].i64(), i++);
    queue.Pop();
  }
  writer.join();
}

}  // namespace
}  // namespace takt::stream
