// Goal: the C API is a face over the library, not its inner language. Only
// src/api, src/abi and src/analysis name what include/takt declares; src/npu
// names what the drivers' header declares. Method: every word of every source,
// comments included, is compared with the words of the public headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

// The interface of NPU drivers, which is no part of the runtime's own
// interface.
constexpr const char* kDriverHeader = "include/takt/npu_driver.h";
// An option of the build that a public header explains, and no name of the API.
constexpr const char* kBuildOption = "TAKT_REALTIME_CHECKS";

bool IsPublicName(const std::string& word) {
  return word.starts_with("takt_") || word.starts_with("TAKT_");
}

// The words of a line that begin like a public name.
std::vector<std::string> NamesIn(const std::string& line) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < line.size();) {
    const auto is_word = [](char c) { return std::isalnum(c) || c == '_'; };
    size_t end = begin;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string word = line.substr(begin, end - begin);
    if (IsPublicName(word)) names.push_back(word);
    begin = std::max(end, begin + 1);
  }
  return names;
}

std::set<std::string> NamesOf(const SourceFile& file) {
  std::set<std::string> names;
  for (const std::string& line : file.lines) {
    for (const std::string& name : NamesIn(line)) {
      if (!name.ends_with("_H_")) names.insert(name);
    }
  }
  return names;
}

std::set<std::string> PublicNames() {
  std::set<std::string> names;
  for (const SourceFile& file : ReadSources("include", {".h"})) {
    names.merge(NamesOf(file));
  }
  return names;
}

// The first public name in `file` that its folder may not know, with its line;
// empty if there is none.
std::string FirstForeignName(const SourceFile& file,
                             const std::set<std::string>& public_names,
                             const std::set<std::string>& driver_names) {
  const bool is_npu = LayerOf(file.path) == "npu";
  for (size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& name : NamesIn(file.lines[i])) {
      if (!public_names.count(name)) continue;
      if (name == kBuildOption) continue;
      if (is_npu && driver_names.count(name)) continue;
      return std::to_string(i + 1) + ": " + name;
    }
  }
  return "";
}

TEST(PublicNamesTest, OnlyTheApiNamesThem) {
  const std::set<std::string> public_names = PublicNames();
  const std::set<std::string> driver_names = NamesOf(ReadSource(kDriverHeader));
  EXPECT_GT(public_names.size(), 500u);
  for (const SourceFile& file : ReadSources("src", {".h", ".cc", ".inc"})) {
    const std::string layer = LayerOf(file.path);
    if (layer == "abi" || layer == "analysis" || layer == "api") continue;
    EXPECT_EQ(FirstForeignName(file, public_names, driver_names), "")
        << file.path << " names what only src/api, abi and analysis may";
  }
}

}  // namespace
}  // namespace takt::tidy
