#include "hal/fill_pattern.h"

#include <string>

#include "gtest/gtest.h"
#include "hal/buffer.h"

namespace takt::hal {
namespace {

TEST(FillPatternTest, HasOneTwoOrFourBytes) {
  for (const uint32_t length : {1u, 2u, 4u}) {
    EXPECT_TRUE(CheckPatternLength(length).ok()) << length;
  }
  for (const uint32_t length : {0u, 3u, 5u, 8u, ~0u}) {
    EXPECT_EQ(CheckPatternLength(length),
              absl::InvalidArgumentError(
                  "pattern_length: expected 1, 2 or 4 bytes, got " +
                  std::to_string(length)));
  }
}

TEST(FillPatternTest, TheRangeIsAMultipleOfIt) {
  EXPECT_TRUE(CheckFillRange(8, 12, 4).ok());
  EXPECT_TRUE(CheckFillRange(8, kWholeBuffer, 4).ok());
  EXPECT_EQ(CheckFillRange(2, 12, 4),
            absl::InvalidArgumentError(
                "fill of 12 bytes at 2 is no multiple of its pattern's 4"));
  EXPECT_EQ(CheckFillRange(4, 11, 2),
            absl::InvalidArgumentError(
                "fill of 11 bytes at 4 is no multiple of its pattern's 2"));
}

}  // namespace
}  // namespace takt::hal
