// The documentation's own consistency: links lead somewhere, every page is in
// the table of contents, and the table of what is covered has no empty row.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string TextOf(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

std::vector<SourceFile> Pages() {
  std::vector<SourceFile> pages = ReadSources("docs", {".md"});
  pages.push_back(ReadSource("README.md"));
  pages.push_back(ReadSource("samples/README.md"));
  return pages;
}

// The targets of "[text](target)", without those on other hosts.
std::vector<std::string> LinksOf(const std::string& line) {
  static const std::regex& kLink =
      *new std::regex(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  std::vector<std::string> links;
  for (std::sregex_iterator at(line.begin(), line.end(), kLink), end; at != end;
       ++at) {
    const std::string target = (*at)[1];
    if (target.find("://") == std::string::npos) links.push_back(target);
  }
  return links;
}

TEST(DocsTest, LinksLeadSomewhere) {
  size_t count = 0;
  for (const SourceFile& page : Pages()) {
    for (size_t i = 0; i < page.lines.size(); ++i) {
      for (const std::string& link : LinksOf(page.lines[i])) {
        ++count;
        EXPECT_TRUE(Exists(FolderOf(page.path) + link))
            << page.path << ":" << i + 1 << ": " << link;
      }
    }
  }
  EXPECT_GT(count, 0u);
}

TEST(DocsTest, EveryPageIsInTheTableOfContents) {
  const std::string contents = TextOf(ReadSource("docs/README.md"));
  for (const SourceFile& page : ReadSources("docs", {".md"})) {
    const std::string name = page.path.substr(FolderOf(page.path).size());
    if (name == "README.md" || FolderOf(page.path) != "docs/") continue;
    EXPECT_NE(contents.find("(" + name + ")"), std::string::npos) << name;
  }
}

// Columns: ... | there | fixtures | tests | remark |
TEST(DocsTest, WhatIsNotTestedHasItsReason) {
  size_t count = 0;
  for (const std::string& line : ReadSource("docs/coverage.md").lines) {
    if (!line.starts_with("| `")) continue;
    ++count;
    EXPECT_FALSE(line.ends_with("|  |  |  |")) << line;
    if (line.find("| no |") != std::string::npos) {
      EXPECT_FALSE(line.ends_with("|  |")) << line;
    }
  }
  EXPECT_GT(count, 300u);
}

}  // namespace
}  // namespace takt::tidy
