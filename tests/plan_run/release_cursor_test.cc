#include "plan_run/release_cursor.h"

#include <vector>

#include "gtest/gtest.h"

namespace takt::plan_run {
namespace {

struct Seen {
  int64_t release_ns;
  uint32_t job;
  uint64_t cycle;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// The next `count` releases, or fewer.
std::vector<Seen> Take(ReleaseCursor& cursor, size_t count) {
  std::vector<Seen> seen;
  while (seen.size() < count) {
    const auto next = cursor.Next();
    if (!next.has_value()) break;
    seen.push_back({next->release_ns, next->job, next->cycle});
    cursor.Advance();
  }
  return seen;
}

TEST(ReleaseCursorTest, ASingleShotReleasesEachJobOnce) {
  ReleaseCursor cursor({{20, 0}, {10, 1}, {10, 2}}, 0);
  cursor.SetOrigin(1000);
  const std::vector<Seen> expected = {{1010, 1, 0}, {1010, 2, 0}, {1020, 0, 0}};
  EXPECT_EQ(Take(cursor, 10), expected);
  EXPECT_FALSE(cursor.Next().has_value());
}

TEST(ReleaseCursorTest, ACyclicPlanRepeatsItsReleases) {
  ReleaseCursor cursor({{0, 0}, {30, 1}}, 100);
  cursor.SetOrigin(1000);
  const std::vector<Seen> expected = {
      {1000, 0, 0}, {1030, 1, 0}, {1100, 0, 1}, {1130, 1, 1}, {1200, 0, 2}};
  EXPECT_EQ(Take(cursor, 5), expected);
}

TEST(ReleaseCursorTest, NothingIsReleasedFromTheEndOn) {
  ReleaseCursor cursor({{0, 0}, {30, 1}}, 100);
  cursor.SetOrigin(1000);
  cursor.SetEnd(1100);
  EXPECT_EQ(Take(cursor, 10).size(), 2u);
  cursor.SetEnd(1130);
  EXPECT_EQ(Take(cursor, 10).size(), 1u);
}

TEST(ReleaseCursorTest, ACursorWithoutReleasesHasNone) {
  ReleaseCursor cyclic({}, 100);
  cyclic.SetOrigin(1000);
  EXPECT_FALSE(cyclic.Next().has_value());
  EXPECT_FALSE(ReleaseCursor().Next().has_value());
}

TEST(ReleaseCursorTest, PlansChangeAtTheEndOfAPeriod) {
  ReleaseCursor cyclic({{0, 0}}, 100);
  cyclic.SetOrigin(1000);
  EXPECT_EQ(cyclic.EndOfPeriod(500), 1000);
  EXPECT_EQ(cyclic.EndOfPeriod(1000), 1000);
  EXPECT_EQ(cyclic.EndOfPeriod(1001), 1100);
  EXPECT_EQ(cyclic.EndOfPeriod(1100), 1100);
  EXPECT_EQ(ReleaseCursor({{0, 0}}, 0).EndOfPeriod(1234), 1234);
}

TEST(ReleaseCursorTest, AnOriginFarAwayDoesNotOverflow) {
  ReleaseCursor cursor({{30, 0}}, 100);
  cursor.SetOrigin(kInfiniteFuture - 10);
  EXPECT_FALSE(cursor.Next().has_value());
}

}  // namespace
}  // namespace takt::plan_run
