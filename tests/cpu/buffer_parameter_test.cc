#include "cpu/buffer_parameter.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(BufferParameterTest, BeginsAtItsOffset) {
  int data[4] = {};
  const BufferParameter<int> buffer = {data, 3, 1};
  EXPECT_EQ(buffer.data(), data + 3);
}

TEST(FindRangeTest, CutsOffWhatExceedsTheWhole) {
  int64_t begin = 0, end = 0;
  ASSERT_TRUE(FindRange(2, 3, 10, &begin, &end));
  EXPECT_EQ(begin, 2);
  EXPECT_EQ(end, 5);
  ASSERT_TRUE(FindRange(8, INT32_MAX, 10, &begin, &end));
  EXPECT_EQ(end, 10);
  ASSERT_TRUE(FindRange(10, 1, 10, &begin, &end));
  EXPECT_EQ(begin, end);
  EXPECT_FALSE(FindRange(11, 1, 10, &begin, &end));
  EXPECT_FALSE(FindRange(-1, 1, 10, &begin, &end));
  EXPECT_FALSE(FindRange(0, -1, 10, &begin, &end));
}

TEST(IsByteTest, KnowsTheLimits) {
  EXPECT_TRUE(IsByte(-128));
  EXPECT_TRUE(IsByte(127));
  EXPECT_FALSE(IsByte(-129));
  EXPECT_FALSE(IsByte(128));
}

}  // namespace
}  // namespace takt::cpu
