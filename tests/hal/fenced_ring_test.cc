#include "hal/fenced_ring.h"

#include <cstdlib>
#include <memory>

#include "gtest/gtest.h"

namespace takt::hal {
namespace {

class FencedRingTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 1024;
  FencedRingTest()
      : ring_(Buffer::WrapHost(nullptr, memory_, kBytes, kMemoryTypeAll,
                               kUsageTransferAndStorage, kAccessAll)) {}
  alignas(64) uint8_t memory_[kBytes] = {};
  FencedRing ring_;
};

TEST_F(FencedRingTest, ReservesOneAfterTheOther) {
  FencedRing::Range a, b;
  ASSERT_TRUE(ring_.Reserve(10, Fence::Create(), &a));
  ASSERT_TRUE(ring_.Reserve(100, Fence::Create(), &b));
  EXPECT_EQ(a.offset, 0u);
  EXPECT_EQ(a.bytes.data(), memory_);
  EXPECT_EQ(b.offset, 64u);
  EXPECT_EQ(b.bytes.size(), 100u);
  EXPECT_EQ(ring_.used_bytes(), 192u);
}

TEST_F(FencedRingTest, IsFullUntilTheOldestFenceIsReached) {
  FencedRing::Range range;
  Ref<Fence> first = Fence::Create();
  Ref<Fence> second = Fence::Create();
  ASSERT_TRUE(ring_.Reserve(512, first, &range));
  ASSERT_TRUE(ring_.Reserve(512, second, &range));
  EXPECT_FALSE(ring_.Reserve(1, nullptr, &range));
  // Ranges come free in order: the second alone frees nothing.
  ASSERT_TRUE(second->Signal().ok());
  EXPECT_FALSE(ring_.Reserve(1, nullptr, &range));
  ASSERT_TRUE(first->Signal().ok());
  EXPECT_TRUE(ring_.Reserve(kBytes, nullptr, &range));
}

TEST_F(FencedRingTest, AFailedFenceFreesItsRange) {
  FencedRing::Range range;
  Ref<Fence> fence = Fence::Create();
  ASSERT_TRUE(ring_.Reserve(kBytes, fence, &range));
  fence->Fail(absl::AbortedError("test"));
  EXPECT_TRUE(ring_.Reserve(kBytes, nullptr, &range));
}

TEST_F(FencedRingTest, SkipsTheEndWhereARangeDoesNotFit) {
  FencedRing::Range range;
  Ref<Fence> first = Fence::Create();
  Ref<Fence> second = Fence::Create();
  ASSERT_TRUE(ring_.Reserve(256, first, &range));
  ASSERT_TRUE(ring_.Reserve(512, second, &range));
  ASSERT_TRUE(first->Signal().ok());
  // 256 are left at the end and 256 at the start, but no 320 in one piece.
  EXPECT_FALSE(ring_.Reserve(320, nullptr, &range));
  Ref<Fence> third = Fence::Create();
  ASSERT_TRUE(ring_.Reserve(256, third, &range));
  EXPECT_EQ(range.offset, 768u);
  Ref<Fence> fourth = Fence::Create();
  ASSERT_TRUE(ring_.Reserve(256, fourth, &range));
  EXPECT_EQ(range.offset, 0u);
}

TEST_F(FencedRingTest, RefusesWhatNeverFits) {
  FencedRing::Range range;
  EXPECT_FALSE(ring_.Reserve(kBytes + 1, nullptr, &range));
  EXPECT_FALSE(ring_.Reserve(~uint64_t{0}, nullptr, &range));
  EXPECT_EQ(ring_.used_bytes(), 0u);
}

TEST_F(FencedRingTest, RunsForEver) {
  for (int i = 0; i < 10000; ++i) {
    FencedRing::Range range;
    Ref<Fence> fence = Fence::Create();
    ASSERT_TRUE(ring_.Reserve(1 + i % 500, fence, &range)) << i;
    ASSERT_TRUE(fence->Signal().ok());
  }
}

}  // namespace
}  // namespace takt::hal
