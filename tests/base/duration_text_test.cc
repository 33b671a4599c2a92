#include "base/duration_text.h"

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(DurationTextTest, HasTheLargestUnitThatFits) {
  EXPECT_EQ(DurationText(0), "0 ns");
  EXPECT_EQ(DurationText(999), "999 ns");
  EXPECT_EQ(DurationText(1000), "1 us");
  EXPECT_EQ(DurationText(12'500'000), "12.5 ms");
  EXPECT_EQ(DurationText(3'000'000'000), "3 s");
  EXPECT_EQ(DurationText(86'400'000'000'000), "86400 s");
}

TEST(DurationTextTest, HasSixDigits) {
  EXPECT_EQ(DurationText(12'345'678), "12.3457 ms");
}

}  // namespace
}  // namespace takt
