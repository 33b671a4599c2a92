#include "sched/met_window.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

// Each job that may miss misses if its bit of `misses` is set; the others are
// in time. Counts by hand whether each window has enough.
void PlayOne(uint32_t min, uint32_t length, uint64_t misses) {
  MetWindow window(min, length);
  std::vector<bool> met;
  for (uint32_t i = 0; i < 16; ++i) {
    const bool is_met = !window.NextMayMiss() || (misses >> i & 1) == 0;
    const uint64_t number = window.Add();
    ASSERT_EQ(number, i);
    if (is_met) window.SetMet(number);
    met.push_back(is_met);
    if (met.size() < length) continue;
    uint32_t met_count = 0;
    for (size_t k = met.size() - length; k < met.size(); ++k) {
      met_count += met[k] ? 1 : 0;
    }
    ASSERT_GE(met_count, min) << min << " of " << length << ", " << misses;
    ASSERT_FALSE(window.IsBroken());
  }
}

TEST(MetWindowTest, JobsThatMayMissBreakNoWindow) {
  for (uint32_t length = 2; length <= 6; ++length) {
    for (uint32_t min = 1; min < length; ++min) {
      for (uint64_t misses = 0; misses < 1 << 16; misses += 7) {
        PlayOne(min, length, misses);
        if (testing::Test::HasFatalFailure()) return;
      }
      PlayOne(min, length, 0xffff);
    }
  }
}

TEST(MetWindowTest, AllJobsMustBeInTimeWithoutAWindow) {
  MetWindow window;
  for (int i = 0; i < 100; ++i) window.SetMet(window.Add());
  EXPECT_FALSE(window.NextMayMiss());
  window.Add();
  EXPECT_FALSE(window.IsBroken());
}

TEST(MetWindowTest, AJobCountsAsMissedUntilItsEnd) {
  MetWindow window(1, 2);
  const uint64_t first = window.Add();
  EXPECT_FALSE(window.NextMayMiss());
  window.SetMet(first);
  EXPECT_TRUE(window.NextMayMiss());
}

TEST(MetWindowTest, JobsMayEndInAnotherOrder) {
  MetWindow window(1, 3);
  const uint64_t first = window.Add();
  window.Add();
  window.Add();
  window.SetMet(first);  // It is not among the last two.
  EXPECT_FALSE(window.NextMayMiss());
}

TEST(MetWindowTest, AWindowOfTheGreatestLengthForgetsOlderJobs) {
  MetWindow window(1, MetWindow::kLengthMax);
  const uint64_t first = window.Add();
  window.SetMet(first);
  for (int i = 0; i < 63; ++i) {
    EXPECT_TRUE(window.NextMayMiss()) << i;
    window.Add();
    EXPECT_FALSE(window.IsBroken()) << i;
  }
  EXPECT_FALSE(window.NextMayMiss());
  window.Add();
  EXPECT_TRUE(window.IsBroken());
  window.SetMet(first);  // It is too old to be counted.
  EXPECT_TRUE(window.IsBroken());
}

TEST(MetWindowTest, AShortHistoryBreaksNoWindow) {
  MetWindow window(2, 3);
  window.Add();
  window.Add();
  EXPECT_FALSE(window.IsBroken());
  window.Add();
  EXPECT_TRUE(window.IsBroken());
}

TEST(MetWindowTest, RefusesWindowsThatMakeNoSense) {
  EXPECT_EQ(CheckMetWindow(0, 0, false), "");
  EXPECT_EQ(CheckMetWindow(1, 2, true), "");
  EXPECT_EQ(CheckMetWindow(63, 64, true), "");
  EXPECT_THAT(CheckMetWindow(2, 0, true), HasSubstr("2 of 0 jobs in time"));
  EXPECT_THAT(CheckMetWindow(0, 2, true), HasSubstr("0 of 2 jobs in time"));
  EXPECT_THAT(CheckMetWindow(2, 2, true), HasSubstr("2 of 2 jobs in time"));
  EXPECT_THAT(CheckMetWindow(2, 65, true), HasSubstr("a window of 65 jobs"));
  EXPECT_THAT(CheckMetWindow(1, 2, false), HasSubstr("needs a deadline"));
}

}  // namespace
}  // namespace takt::sched
