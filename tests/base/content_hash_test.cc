#include "base/content_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace takt {
namespace {

TEST(ContentHashTest, IsTheSameOnEveryMachine) {
  EXPECT_EQ(ContentHashText(ContentHash("")), "fd8fa00619c0a9d3");
  EXPECT_EQ(ContentHashText(ContentHash("takt")), "5a3b2e3dbfbc57ea");
  EXPECT_EQ(ContentHashText(ContentHash("a file of some length")),
            "8b9f4428dad969e3");
}

TEST(ContentHashTest, DependsOnEveryBitAndTheLength) {
  std::set<uint64_t> hashes;
  size_t count = 0;
  for (size_t length = 0; length < 40; ++length) {
    std::string bytes(length, '\0');
    hashes.insert(ContentHash(bytes));
    ++count;
    for (size_t bit = 0; bit < 8 * length; ++bit) {
      bytes[bit / 8] = static_cast<char>(1 << (bit % 8));
      hashes.insert(ContentHash(bytes));
      bytes[bit / 8] = 0;
      ++count;
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(ContentHashTest, TextHasAllSixteenDigits) {
  EXPECT_EQ(ContentHashText(0xab), "00000000000000ab");
}

}  // namespace
}  // namespace takt
