#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace takt {
namespace {

std::string Nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonTest, ParsesWhatIsShallow) {
  const auto json = ParseJson(R"({"a": [1, {"b": "]]]]"}]})", "board");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["a"][1]["b"], "]]]]");
  EXPECT_TRUE(ParseJson(Nested(16), "board").ok());
}

TEST(JsonTest, BracketsInTextDoNotNest) {
  const auto json =
      ParseJson("\"" + std::string(100, '[') + "\\\"" + "[\"", "board");
  ASSERT_TRUE(json.ok()) << json.status();
}

TEST(JsonTest, RefusesWhatIsDeepOrNoJson) {
  EXPECT_EQ(ParseJson(Nested(17), "board").status().message(),
            "board: document: nested too deep");
  EXPECT_EQ(ParseJson(std::string(1 << 20, '{'), "board").status().message(),
            "board: document: nested too deep");
  for (const char* text : {"", "{", "nonsense", "[1,]", "\"\xff\""}) {
    EXPECT_EQ(ParseJson(text, "board").status().message(),
              "board: document: is not JSON")
        << text;
  }
}

TEST(JsonTest, APlaceSaysWhereTheFaultIs) {
  const auto json = ParseJson(R"({"name": 7, "cores": [{"extra": 1}]})", "b");
  ASSERT_TRUE(json.ok());
  const JsonPlace root(*json, "board");
  EXPECT_EQ(root.Text("name", "").status().message(),
            "board.name: expected text, got 7");
  EXPECT_EQ(*root.Text("absent", "by default"), "by default");
  EXPECT_EQ(root.CheckKeys({"name"}).message(),
            "board: unknown member \"cores\"");
  EXPECT_TRUE(root.CheckKeys({"cores", "name"}).ok());
  const JsonPlace core = root.Element("cores", 0, (*json)["cores"][0]);
  EXPECT_EQ(core.CheckKeys({}).message(),
            "board.cores[0]: unknown member \"extra\"");
  const JsonPlace name = root.Member("name", (*json)["name"]);
  EXPECT_EQ(name.CheckKeys({}).message(), "board.name: expected an object");
  EXPECT_EQ(name.Find("anything"), nullptr);
}

}  // namespace
}  // namespace takt
