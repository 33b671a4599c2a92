#include "api/value_slot.h"

#include <thread>

#include "base/object.h"
#include "gtest/gtest.h"
#include "takt/fence.h"

namespace takt::api {
namespace {

takt_value_t Number(int64_t value) { return takt_value_i64(value); }

TEST(LatestValuesTest, TheReaderGetsTheLatestOnce) {
  LatestValues slot(1);
  bool is_new = true;
  EXPECT_EQ(slot.Take(&is_new), nullptr);
  EXPECT_FALSE(is_new);
  for (int64_t i = 1; i <= 3; ++i) {
    const takt_value_t value = Number(i);
    slot.back().Set({&value, 1});
    slot.Publish();
  }
  const ValueEntry* entry = slot.Take(&is_new);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(entry->values()[0].i64, 3);
  EXPECT_EQ(slot.Take(&is_new), entry);
  EXPECT_FALSE(is_new);
}

TEST(LatestValuesTest, HoldsReferencesAndGivesThemBack) {
  takt_fence_t* fence = nullptr;
  ASSERT_EQ(takt_fence_create(&fence), nullptr);
  auto* object = reinterpret_cast<Object*>(fence);
  {
    LatestValues slot(1);
    const takt_value_t value = takt_value_ref(fence);
    for (int i = 0; i < 5; ++i) {
      slot.back().Set({&value, 1});
      slot.Publish();
    }
    EXPECT_GT(object->reference_count(), 1);
    EXPECT_LE(object->reference_count(), 4);
  }
  EXPECT_EQ(object->reference_count(), 1);
  takt_fence_release(fence);
}

// What is read is always one whole entry, and never an older one than before.
TEST(LatestValuesTest, WriterAndReaderNeverMeet) {
  constexpr int64_t kCount = 200000;
  LatestValues slot(4);
  std::thread writer([&] {
    for (int64_t i = 1; i <= kCount; ++i) {
      const takt_value_t values[4] = {Number(i), Number(i), Number(i),
                                      Number(i)};
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
    const int64_t first = entry->values()[0].i64;
    ASSERT_EQ(is_new, first > last);
    ASSERT_GE(first, last);
    for (const takt_value_t& value : entry->values()) {
      ASSERT_EQ(value.i64, first);
    }
    ASSERT_EQ(entry->sequence, static_cast<uint64_t>(first));
    last = first;
  }
  writer.join();
}

TEST(ValueQueueTest, KeepsOrderAndSaysWhenItIsFull) {
  ValueQueue queue(1, 2);
  EXPECT_EQ(queue.first(), nullptr);
  for (int round = 0; round < 3; ++round) {
    for (int64_t i = 0; i < 2; ++i) {
      const takt_value_t value = Number(i);
      ASSERT_NE(queue.next(), nullptr);
      queue.next()->Set({&value, 1});
      queue.Put();
    }
    EXPECT_EQ(queue.next(), nullptr);
    for (int64_t i = 0; i < 2; ++i) {
      ASSERT_NE(queue.first(), nullptr);
      EXPECT_EQ(queue.first()->values()[0].i64, i);
      queue.Pop();
    }
    EXPECT_EQ(queue.first(), nullptr);
  }
}

TEST(ValueQueueTest, NothingIsLostBetweenThreads) {
  constexpr int64_t kCount = 100000;
  ValueQueue queue(1, 7);
  std::thread writer([&] {
    for (int64_t i = 0; i < kCount;) {
      ValueEntry* entry = queue.next();
      if (entry == nullptr) {
        std::this_thread::yield();
        continue;
      }
      const takt_value_t value = Number(i++);
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
    ASSERT_EQ(entry->values()[0].i64, i++);
    queue.Pop();
  }
  writer.join();
}

}  // namespace
}  // namespace takt::api
