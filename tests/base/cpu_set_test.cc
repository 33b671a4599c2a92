#include "base/cpu_set.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using ::testing::HasSubstr;

TEST(CpuSetTest, ReadsAndPrintsRanges) {
  for (const char* text : {"", "0", "0-3", "1,3,5", "0-3,8,4000-4001"}) {
    EXPECT_EQ(CpuSet::Parse(text).value().ToString(), text);
  }
  EXPECT_EQ(CpuSet::Parse("0x0f").value().ToString(), "0-3");
  EXPECT_EQ(CpuSet::Parse("0x80000000000000000").value().ToString(), "67");
  EXPECT_EQ(CpuSet::FromMask(0x21).ToString(), "0,5");
}

TEST(CpuSetTest, IsMadeOfWords) {
  const uint64_t words[] = {0x21, 0, 1};
  const CpuSet set = CpuSet::FromWords(words);
  EXPECT_EQ(set.ToString(), "0,5,128");
  EXPECT_EQ(CpuSet::FromWords(set.words()), set);
  EXPECT_TRUE(CpuSet::FromWords({}).empty());
}

TEST(CpuSetTest, RefusesMalformedSets) {
  for (const char* text : {"a", "3-1", "-1", "1-", ",", "1,,2", "0x", "0xg",
                           "8192", "0-99999999999", "1-2-3"}) {
    const auto set = CpuSet::Parse(text);
    ASSERT_FALSE(set.ok()) << text;
    EXPECT_THAT(std::string(set.status().message()), HasSubstr(text));
  }
}

TEST(CpuSetTest, CombinesSetsOfDifferentSizes) {
  const CpuSet small = CpuSet::Parse("0-3").value();
  const CpuSet large = CpuSet::Parse("2-130").value();
  EXPECT_EQ((small & large).ToString(), "2-3");
  EXPECT_EQ((large & small).ToString(), "2-3");
  EXPECT_EQ((small | large).ToString(), "0-130");
  EXPECT_EQ((small - large).ToString(), "0-1");
  EXPECT_TRUE((small & large).IsSubsetOf(small));
  EXPECT_FALSE(large.IsSubsetOf(small));
  EXPECT_TRUE(small.Intersects(large));
  EXPECT_FALSE((small - large).Intersects(large));
  EXPECT_TRUE((large - large).empty());
  EXPECT_EQ(large - large, CpuSet());
  EXPECT_EQ(large.count(), 129u);
}

TEST(CpuSetTest, VisitsInOrder) {
  std::vector<uint32_t> seen;
  CpuSet::Parse("64,3,127-128").value().ForEach([&seen](uint32_t cpu) {
    seen.push_back(cpu);
  });
  EXPECT_EQ(seen, (std::vector<uint32_t>{3, 64, 127, 128}));
  EXPECT_EQ(CpuSet().Next(0), -1);
  CpuSet set = CpuSet::FromMask(2);
  set.Remove(1);
  set.Remove(7000);
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace takt
