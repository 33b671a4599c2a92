#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace takt {
namespace {

std::string Nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonTest, ParsesShallowDocuments) {
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

TEST(JsonTest, RefusesDeepDocumentsAndMalformedText) {
  EXPECT_EQ(ParseJson(Nested(17), "board").status().message(),
            "board: document: nested too deep");
  EXPECT_EQ(ParseJson(std::string(1 << 20, '{'), "board").status().message(),
            "board: document: nested too deep");
}

TEST(JsonTest, SaysWhereTheTextIsNoJson) {
  const struct {
    std::string text;
    const char* place;
  } kBad[] = {
      {"", "line 1, column 1: "},
      {"{", "line 1, column 2: "},
      {"nonsense", "line 1, column 2: "},
      {"[1,]", "line 1, column 4: "},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3, column 7: "},
      {"[\n\"\xff\"]", "line 2, column 2: "},
      {"{}\n\n  extra", "line 3, column 3: "},
  };
  for (const auto& [text, place] : kBad) {
    const std::string message(ParseJson(text, "board").status().message());
    EXPECT_EQ(message.rfind(std::string("board: document: is not JSON: ") +
                                place + "while parsing",
                            0),
              0u)
        << message;
    EXPECT_EQ(message.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                                        "abcdefghijklmnopqrstuvwxyz{|}~"),
              std::string::npos)
        << message;
  }
  // A message stays short, whatever the text.
  const std::string text = "[\"" + std::string(10000, 'x');
  EXPECT_LT(ParseJson(text, "board").status().message().size(), 300u);
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
