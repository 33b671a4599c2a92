#include "base/nearest_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace takt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NearestNamesTest, ListsFewNamesNearestFirst) {
  EXPECT_EQ(NearestNames({"pose.detect", "policy.acts", "policy.act"},
                         "policy.atc", "functions"),
            "there are policy.act, policy.acts, pose.detect");
}

TEST(NearestNamesTest, ComparesThePartBehindTheLastDot) {
  EXPECT_THAT(NearestNames({"a_very_long_module_name.run", "m.f"}, "rum", "x"),
              StartsWith("there are a_very_long_module_name.run"));
  // The case of letters does not matter, and a part of a name is near it.
  EXPECT_THAT(NearestNames({"m.stop", "m.Detect_Objects"}, "detect", "x"),
              StartsWith("there are m.Detect_Objects"));
}

TEST(NearestNamesTest, BoundsTheListAndEachName) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("m.f" + std::to_string(i));
  const std::string text = NearestNames(names, "m.f77", "functions");
  EXPECT_THAT(text, StartsWith("the nearest of 3000 functions are m.f77, "));
  EXPECT_LT(text.size(), 120u);
  EXPECT_THAT(NearestNames({std::string(100000, 'x')}, "y", "functions"),
              HasSubstr("xxx..."));
}

TEST(NearestNamesTest, SaysThatThereAreNone) {
  EXPECT_EQ(NearestNames({}, "f", "functions"), "there are no functions");
}

}  // namespace
}  // namespace takt
