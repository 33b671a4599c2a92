#include "sched/level_counts.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

TEST(LevelCountsTest, MoreUrgentIsLower) {
  OperationFacts hard;
  hard.band = Band::kHard;
  OperationFacts soft;
  soft.band = Band::kSoft;
  soft.priority = 255;
  OperationFacts softer = soft;
  softer.priority = 254;
  EXPECT_LT(hard.level(), soft.level());
  EXPECT_LT(soft.level(), softer.level());
  OperationFacts last;
  last.band = Band::kBestEffort;
  last.priority = 0;
  EXPECT_EQ(last.level(), kLevelCount - 1);
}

TEST(LevelCountsTest, EqualsASimpleCount) {
  LevelCounts counts;
  std::vector<uint32_t> levels;
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    if (levels.empty() || random.Below(3) > 0) {
      levels.push_back(static_cast<uint32_t>(random.Below(kLevelCount)));
      counts.Add(levels.back());
    } else {
      const size_t which = random.Below(levels.size());
      counts.Remove(levels[which]);
      levels[which] = levels.back();
      levels.pop_back();
    }
    const auto asked = static_cast<uint32_t>(random.Below(kLevelCount));
    uint32_t expected = 0;
    for (const uint32_t level : levels) expected += level <= asked ? 1 : 0;
    ASSERT_EQ(counts.CountUpTo(asked), expected);
    ASSERT_EQ(counts.count(), levels.size());
    ASSERT_EQ(counts.CountUpTo(kLevelCount - 1), levels.size());
  }
}

TEST(LevelCountsDeathTest, RemovesWhatWasAdded) {
  LevelCounts counts;
  counts.Add(3);
  EXPECT_DEATH(counts.Remove(2), "sums_");
}

}  // namespace
}  // namespace takt::sched
