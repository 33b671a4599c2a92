#include "base/content_hash.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(ContentHashTest, IsWhatFilesWereWrittenWith) {
  const std::string text = "takt: 21 bytes of it.";
  EXPECT_EQ(ContentHash(text.data(), text.size()), 633859921822746888u);
}

TEST(ContentHashTest, EveryByteCounts) {
  std::string bytes(40, 'a');
  std::set<uint64_t> hashes = {ContentHash(bytes.data(), bytes.size())};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 'b';
    EXPECT_TRUE(hashes.insert(ContentHash(bytes.data(), bytes.size())).second);
    bytes[i] = 'a';
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_TRUE(hashes.insert(ContentHash(bytes.data(), i)).second);
  }
}

TEST(ContentHashTest, ZerosAreNotNothing) {
  const uint8_t zeros[16] = {};
  EXPECT_NE(ContentHash(zeros, 8), ContentHash(zeros, 16));
  EXPECT_NE(ContentHash(zeros, 0), ContentHash(zeros, 1));
  EXPECT_NE(ContentHash(zeros, 8, 1), ContentHash(zeros, 8, 2));
}

}  // namespace
}  // namespace takt
