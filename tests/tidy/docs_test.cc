// The documentation's own consistency: links lead to files and headings, every
// page is in the table of contents, every public header is on a page, and the
// table of instructions and imports has no empty row.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
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

// The anchors of a page, as GitHub makes them of its headings: lower case,
// dashes for spaces, no other punctuation.
std::set<std::string> AnchorsOf(const SourceFile& page) {
  std::set<std::string> anchors;
  for (const std::string& line : page.lines) {
    const size_t begin = line.find_first_not_of('#');
    if (!line.starts_with("#") || line[begin] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(begin + 1)) {
      const auto letter = static_cast<unsigned char>(c);
      if (std::isalnum(letter) || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(letter));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(DocsTest, AnchorsAreHeadings) {
  static const std::regex& kLink =
      *new std::regex(R"(\]\(([^)#\s:]*)#([^)]+)\))");
  size_t count = 0;
  for (const SourceFile& page : Pages()) {
    for (const std::string& line : page.lines) {
      for (std::sregex_iterator at(line.begin(), line.end(), kLink), end;
           at != end; ++at) {
        const std::string file = (*at)[1];
        const std::string path =
            file.empty() ? page.path : FolderOf(page.path) + file;
        ASSERT_TRUE(Exists(path)) << page.path << ": " << path;
        ++count;
        EXPECT_TRUE(AnchorsOf(ReadSource(path)).count((*at)[2]))
            << page.path << ": " << path << " has no heading #" << (*at)[2];
      }
    }
  }
  EXPECT_GT(count, 0u);
}

// So each function is two steps away: from a page to its header to its
// contract.
TEST(DocsTest, EveryPublicHeaderIsOnAPage) {
  std::string text;
  for (const SourceFile& page : ReadSources("docs", {".md"})) {
    text += TextOf(page);
  }
  for (const SourceFile& header : ReadSources("include", {".h", ".hpp"})) {
    const std::string name = header.path.substr(std::string("include/").size());
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos)
        << "no page names `" << name << "`";
  }
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
TEST(DocsTest, UntestedRowsOfTheCoverageTableHaveAReason) {
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
