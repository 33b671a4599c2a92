#include "stream/release_queue.h"

#include "gtest/gtest.h"

namespace takt::stream {
namespace {

PendingRelease Release(uint64_t sequence) {
  const auto time_ns = static_cast<int64_t>(sequence) * 10;
  return {sequence, time_ns, time_ns + 1};
}

TEST(ReleaseQueueTest, ReturnsReleasesInOrder) {
  ReleaseQueue queue(3, /*keeps_latest_only=*/false);
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 3; ++i) {
      EXPECT_FALSE(queue.Add(Release(3 * round + i)).has_value());
    }
    EXPECT_EQ(queue.size(), 3u);
    for (uint64_t i = 0; i < 3; ++i) {
      const auto release = queue.Take();
      ASSERT_TRUE(release.has_value());
      EXPECT_EQ(release->sequence, 3 * round + i);
      EXPECT_EQ(release->release_ns, release->origin_ns + 1);
    }
    EXPECT_FALSE(queue.Take().has_value());
  }
}

TEST(ReleaseQueueTest, AFullQueueReturnsItsOldestRelease) {
  ReleaseQueue queue(2, /*keeps_latest_only=*/false);
  EXPECT_FALSE(queue.Add(Release(0)).has_value());
  EXPECT_FALSE(queue.Add(Release(1)).has_value());
  const auto replaced = queue.Add(Release(2));
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(replaced->sequence, 0u);
  EXPECT_EQ(queue.Take()->sequence, 1u);
  EXPECT_EQ(queue.Take()->sequence, 2u);
}

TEST(ReleaseQueueTest, ALatestOnlyQueueHoldsOneRelease) {
  ReleaseQueue queue(64, /*keeps_latest_only=*/true);
  EXPECT_FALSE(queue.Add(Release(0)).has_value());
  for (uint64_t i = 1; i < 5; ++i) {
    const auto replaced = queue.Add(Release(i));
    ASSERT_TRUE(replaced.has_value());
    EXPECT_EQ(replaced->sequence, i - 1);
    EXPECT_EQ(queue.size(), 1u);
  }
  EXPECT_EQ(queue.Take()->sequence, 4u);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace takt::stream
