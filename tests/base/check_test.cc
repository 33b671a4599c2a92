#include "base/check.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(CheckTest, HoldsInSilence) {
  int evaluations = 0;
  TAKT_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, NamesTheConditionAndThePlace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(TAKT_CHECK(1 + 1 == 3), "check_test.cc.*1 \\+ 1 == 3");
}

#ifdef NDEBUG
TEST(CheckTest, DebugChecksAreNotEvaluated) {
  int evaluations = 0;
  TAKT_DCHECK(++evaluations == 2);
  EXPECT_EQ(evaluations, 0);
}
#else
TEST(CheckDeathTest, DebugChecksAreChecks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(TAKT_DCHECK(1 + 1 == 3), "1 \\+ 1 == 3");
}
#endif

}  // namespace
}  // namespace takt
