#include "modules/hal_arguments.h"

#include "hal/buffer.h"
#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

TEST(MatchesGlobTest, StarStandsForAnyRun) {
  EXPECT_TRUE(MatchesGlob("local*", "local"));
  EXPECT_TRUE(MatchesGlob("local*", "local-sync"));
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("*", "anything"));
  EXPECT_TRUE(MatchesGlob("*sync", "local-sync"));
  EXPECT_TRUE(MatchesGlob("l*-s*c", "local-sync"));
  EXPECT_TRUE(MatchesGlob("**l***c**", "local-sync"));
  EXPECT_FALSE(MatchesGlob("local*", "loca"));
  EXPECT_FALSE(MatchesGlob("*task", "local-sync"));
  EXPECT_FALSE(MatchesGlob("l*-t*c", "local-sync"));
}

TEST(MatchesGlobTest, QuestionMarkStandsForOneCharacter) {
  EXPECT_TRUE(MatchesGlob("local-????", "local-sync"));
  EXPECT_TRUE(MatchesGlob("?", "x"));
  EXPECT_FALSE(MatchesGlob("?", ""));
  EXPECT_FALSE(MatchesGlob("local-?????", "local-sync"));
  EXPECT_TRUE(MatchesGlob("?*?", "ab"));
  EXPECT_FALSE(MatchesGlob("?*?", "a"));
}

TEST(MatchesGlobTest, OtherCharactersStandForThemselves) {
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_TRUE(MatchesGlob("local-sync", "local-sync"));
  EXPECT_FALSE(MatchesGlob("local", "local-sync"));
  EXPECT_FALSE(MatchesGlob("Local", "local"));
  EXPECT_FALSE(MatchesGlob("", "x"));
}

TEST(MatchesGlobTest, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(2000, 'a')));
}

TEST(CheckPatternLengthTest, TakesOneTwoAndFour) {
  for (uint32_t length : {1, 2, 4}) TAKT_ASSERT_OK(CheckPatternLength(length));
  for (uint32_t length : {0u, 3u, 5u, 8u, ~0u}) {
    EXPECT_THAT(CheckPatternLength(length),
                FailsWith(absl::StatusCode::kInvalidArgument, "pattern_length"))
        << length;
  }
}

TEST(BytesOfTest, GivesTheRange) {
  uint8_t bytes[4] = {1, 2, 3, 4};
  const Ref<vm::Buffer> buffer = vm::Buffer::Wrap(nullptr, bytes, 4, false);
  EXPECT_THAT(*BytesOf(*buffer, 1, 2), testing::ElementsAre(2, 3));
  EXPECT_THAT(*BytesOf(*buffer, 2, hal::kWholeBuffer),
              testing::ElementsAre(3, 4));
  EXPECT_TRUE(BytesOf(*buffer, 4, 0)->empty());
}

TEST(BytesOfTest, RejectsRangesBeyondTheEnd) {
  uint8_t bytes[4] = {};
  const Ref<vm::Buffer> buffer = vm::Buffer::Wrap(nullptr, bytes, 4, false);
  constexpr auto kCode = absl::StatusCode::kOutOfRange;
  EXPECT_THAT(BytesOf(*buffer, 0, 5), FailsWith(kCode, "its 4 bytes, got 5"));
  EXPECT_THAT(BytesOf(*buffer, 5, 0), FailsWith(kCode, "at offset 5"));
  EXPECT_THAT(BytesOf(*buffer, 5, hal::kWholeBuffer), FailsWith(kCode, ""));
  EXPECT_THAT(BytesOf(*buffer, ~uint64_t{0}, 2), FailsWith(kCode, ""));
}

}  // namespace
}  // namespace takt::modules
