#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/types/span.h"

namespace takt {
namespace {

struct Case {
  const char* text;
  const char* pattern;
  bool matches;
};

void ExpectMatches(absl::Span<const Case> cases) {
  for (const Case& each : cases) {
    EXPECT_EQ(MatchesGlob(each.text, each.pattern), each.matches)
        << each.text << " by " << each.pattern;
  }
}

TEST(MatchesGlobTest, StarStandsForAnyRun) {
  ExpectMatches({{"local", "local*", true},
                 {"local-sync", "local*", true},
                 {"", "*", true},
                 {"anything", "*", true},
                 {"local-sync", "*sync", true},
                 {"local-sync", "l*-s*c", true},
                 {"local-sync", "**l***c**", true},
                 {"loca", "local*", false},
                 {"local-sync", "*task", false},
                 {"local-sync", "l*-t*c", false}});
}

TEST(MatchesGlobTest, QuestionMarkStandsForOneCharacter) {
  ExpectMatches({{"local-sync", "local-????", true},
                 {"x", "?", true},
                 {"", "?", false},
                 {"local-sync", "local-?????", false},
                 {"ab", "?*?", true},
                 {"a", "?*?", false}});
}

TEST(MatchesGlobTest, OtherCharactersStandForThemselves) {
  ExpectMatches({{"", "", true},
                 {"local-sync", "local-sync", true},
                 {"local-sync", "local", false},
                 {"local", "Local", false},
                 {"x", "", false}});
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
