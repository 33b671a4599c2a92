#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace takt {
namespace {

TEST(MatchesGlobTest, StarStandsForAnyRun) {
  EXPECT_TRUE(MatchesGlob("local", "local*"));
  EXPECT_TRUE(MatchesGlob("local-sync", "local*"));
  EXPECT_TRUE(MatchesGlob("", "*"));
  EXPECT_TRUE(MatchesGlob("anything", "*"));
  EXPECT_TRUE(MatchesGlob("local-sync", "*sync"));
  EXPECT_TRUE(MatchesGlob("local-sync", "l*-s*c"));
  EXPECT_TRUE(MatchesGlob("local-sync", "**l***c**"));
  EXPECT_FALSE(MatchesGlob("loca", "local*"));
  EXPECT_FALSE(MatchesGlob("local-sync", "*task"));
  EXPECT_FALSE(MatchesGlob("local-sync", "l*-t*c"));
}

TEST(MatchesGlobTest, QuestionMarkStandsForOneCharacter) {
  EXPECT_TRUE(MatchesGlob("local-sync", "local-????"));
  EXPECT_TRUE(MatchesGlob("x", "?"));
  EXPECT_FALSE(MatchesGlob("", "?"));
  EXPECT_FALSE(MatchesGlob("local-sync", "local-?????"));
  EXPECT_TRUE(MatchesGlob("ab", "?*?"));
  EXPECT_FALSE(MatchesGlob("a", "?*?"));
}

TEST(MatchesGlobTest, OtherCharactersStandForThemselves) {
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_TRUE(MatchesGlob("local-sync", "local-sync"));
  EXPECT_FALSE(MatchesGlob("local-sync", "local"));
  EXPECT_FALSE(MatchesGlob("local", "Local"));
  EXPECT_FALSE(MatchesGlob("x", ""));
}

TEST(MatchesGlobTest, PatternAndTextAreNotInterchangeable) {
  EXPECT_TRUE(MatchesGlob("local-sync", "local-*"));
  EXPECT_FALSE(MatchesGlob("local-*", "local-sync"));
}

TEST(MatchesGlobTest, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesGlob(std::string(2000, 'a'), pattern + "b"));
}

}  // namespace
}  // namespace takt
