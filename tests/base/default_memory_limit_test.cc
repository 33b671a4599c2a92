#include "base/default_memory_limit.h"

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(DefaultMemoryLimitTest, IsHalfOfTheMachinesMemory) {
  EXPECT_EQ(DefaultMemoryLimit(1000, ""), 500u);
  EXPECT_EQ(DefaultMemoryLimit(1000, "max"), 500u);
}

TEST(DefaultMemoryLimitTest, KeepsToTheControlGroup) {
  EXPECT_EQ(DefaultMemoryLimit(1000, "600"), 300u);
  EXPECT_EQ(DefaultMemoryLimit(1000, "6000"), 500u);
}

}  // namespace
}  // namespace takt
