#include "base/hash_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"

namespace takt {
namespace {

TEST(HashMapTest, FindsTextWithoutACopy) {
  HashMap<std::string, int> map;
  map.emplace("one", 1);
  const absl::string_view key = "one two";
  const auto found = map.find(key.substr(0, 3));
  ASSERT_NE(found, map.end());
  EXPECT_EQ(found->second, 1);
  EXPECT_EQ(map.find(key), map.end());
}

TEST(HashMapTest, KeepsOneOfEachKey) {
  HashSet<uint64_t> set;
  for (uint64_t i = 0; i < 1000; ++i) set.insert(i % 10);
  EXPECT_EQ(set.size(), 10u);
  EXPECT_TRUE(set.contains(9));
  EXPECT_FALSE(set.contains(10));
}

// A value that cannot be made while memory is short.
struct Scarce {
  static inline bool is_short = false;
  explicit Scarce(int value_in) : value(value_in) {
    if (is_short) throw std::bad_alloc();
  }
  int value;
};

TEST(HashMapTest, AnInsertionThatFailsLeavesTheTableWhole) {
  HashMap<std::string, Scarce> map;
  for (int i = 0; i < 100; ++i) {
    Scarce::is_short = true;
    EXPECT_THROW(map.emplace(absl::StrCat(i), i), std::bad_alloc);
    Scarce::is_short = false;
    EXPECT_EQ(map.size(), static_cast<size_t>(i));
    map.emplace(absl::StrCat(i), i);
  }
  for (int i = 0; i < 100; ++i) {
    const auto found = map.find(absl::StrCat(i));
    ASSERT_NE(found, map.end());
    EXPECT_EQ(found->second.value, i);
  }
}

}  // namespace
}  // namespace takt
