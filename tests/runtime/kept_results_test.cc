#include "runtime/kept_results.h"

#include <vector>

#include "gtest/gtest.h"

namespace takt::runtime {
namespace {

TEST(KeptResultsTest, StayUntilTheLastOneHasFetchedItsOwn) {
  const std::vector<vm::Value> results = {vm::Value::I32(1), vm::Value::I64(2)};
  KeptResults kept;
  EXPECT_FALSE(kept.are_wanted());
  kept.Expect(results.size());
  kept.Expect(results.size());
  kept.Keep(results);
  std::vector<vm::Value> unused;
  EXPECT_EQ(kept.Fetch(1, &unused).i64(), 2);
  EXPECT_TRUE(unused.empty());
  EXPECT_TRUE(kept.are_wanted());
  EXPECT_EQ(kept.Fetch(0, &unused).i32(), 1);
  EXPECT_EQ(unused.size(), 2u);
  EXPECT_FALSE(kept.are_wanted());
}

TEST(KeptResultsTest, AreNoneOfACallThatHasFailed) {
  KeptResults kept;
  kept.Expect(2);
  std::vector<vm::Value> unused;
  EXPECT_EQ(kept.Fetch(0, &unused).kind(), vm::ValueKind::kNone);
  EXPECT_FALSE(kept.are_wanted());
}

TEST(KeptResultsTest, MayBeWantedAgain) {
  const std::vector<vm::Value> results = {vm::Value::I32(7)};
  KeptResults kept;
  std::vector<vm::Value> unused;
  for (int i = 0; i < 2; ++i) {
    kept.Expect(results.size());
    kept.Keep(results);
    EXPECT_EQ(kept.Fetch(0, &unused).i32(), 7);
  }
}

}  // namespace
}  // namespace takt::runtime
