#include "kernels/pixel_parts.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

TEST(PixelPartsTest, CoverAllPixelsInPartsThatMicroKernelsTake) {
  for (const int64_t step : {1, 2}) {
    for (const int64_t most : {2, 4, 6, 12}) {
      for (int64_t pixels = 0; pixels < 60; ++pixels) {
        const PixelParts parts(7, 7 + pixels, most, step);
        std::vector<int> times(static_cast<size_t>(7 + pixels), 0);
        for (int64_t i = 0; i < parts.count(); ++i) {
          const PixelPart part = parts[i];
          ASSERT_LE(part.count, most);
          ASSERT_TRUE(part.count % step == 0 || pixels == 1) << part.count;
          ASSERT_GE(part.begin, 7);
          ASSERT_LE(part.begin + part.count, 7 + pixels);
          for (int64_t p = 0; p < part.count; ++p) {
            ++times[static_cast<size_t>(part.begin + p)];
          }
        }
        int64_t twice = 0;
        for (size_t p = 7; p < times.size(); ++p) {
          ASSERT_GE(times[p], 1) << p;
          twice += times[p] - 1;
        }
        EXPECT_EQ(twice, pixels > 1 ? pixels % step : 0);
        if (pixels > most) {
          EXPECT_EQ(parts.count(), (pixels + pixels % step + most - 1) / most);
        }
      }
    }
  }
}

TEST(PixelPartsTest, EqualPartsEndWhereTheNextOneDiffersOrOverlaps) {
  const PixelParts parts(0, 49, 12, 2);  // Five of 10; the last begins at 39.
  EXPECT_EQ(parts.EqualEnd(0, parts.count()), 4);
  EXPECT_EQ(parts.EqualEnd(1, 3), 3);
  EXPECT_EQ(parts.EqualEnd(4, parts.count()), 5);
  const PixelParts uneven(0, 20, 6, 2);  // 6, 6, 4 and 4.
  ASSERT_EQ(uneven.count(), 4);
  EXPECT_EQ(uneven.EqualEnd(0, 4), 2);
  EXPECT_EQ(uneven.EqualEnd(2, 4), 4);
}

TEST(PixelPartsTest, AreAsEqualAsStepsAllow) {
  const PixelParts parts(0, 14, 12, 1);
  ASSERT_EQ(parts.count(), 2);
  EXPECT_EQ(parts[0].count, 7);
  EXPECT_EQ(parts[1].count, 7);
  const PixelParts even(0, 49, 12, 2);
  ASSERT_EQ(even.count(), 5);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(even[i].count, 10);
  EXPECT_EQ(even[4].begin, 39);
}

}  // namespace
}  // namespace takt::kernels
