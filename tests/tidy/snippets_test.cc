// The C and C++ of the pages compiles, their commands have only flags that the
// tools know, and takt-sim reads their workloads. What a snippet uses and does
// not declare is declared in snippets/preamble.h.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

struct Snippet {
  std::string page;
  size_t line;  // Its first line on the page.
  std::string language;
  std::vector<std::string> lines;
};

std::vector<Snippet> ReadSnippets() {
  std::vector<SourceFile> pages = ReadSources("docs", {".md"});
  pages.push_back(ReadSource("README.md"));
  std::vector<Snippet> snippets;
  for (const SourceFile& page : pages) {
    bool is_inside = false;
    for (size_t i = 0; i < page.lines.size(); ++i) {
      absl::string_view line = page.lines[i];
      if (absl::ConsumePrefix(&line, "```")) {
        is_inside = !is_inside;
        if (is_inside) {
          snippets.push_back({page.path, i + 2, std::string(line), {}});
        }
      } else if (is_inside) {
        snippets.back().lines.push_back(page.lines[i]);
      }
    }
    EXPECT_FALSE(is_inside) << page.path << ": a block has no end";
  }
  return snippets;
}

std::string RunCommand(const std::string& command, int* exit_code) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  char buffer[4096];
  for (size_t size = 0; (size = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, size);
  }
  *exit_code = pclose(pipe);
  return output;
}

// The code of another project, which a page compares with.
bool IsForeign(const Snippet& snippet) {
  return snippet.lines.front() == "/* there */";
}

// The snippet as a function, for which the compiler names the page's lines.
std::string FunctionOf(const Snippet& snippet, size_t number) {
  std::string body =
      absl::StrCat("#line ", snippet.line, " \"", snippet.page, "\"\n");
  bool awaits = false;
  for (const std::string& line : snippet.lines) {
    const bool is_elided = absl::StrContains(line, "...  ") || line == "...";
    absl::StrAppend(&body, is_elided ? "" : line, "\n");
    awaits |= absl::StrContains(line, "co_await");
  }
  static const std::regex& kFunction =
      *new std::regex(R"([\w:]+ \w+\(.*\) \{)");
  if (std::regex_match(snippet.lines.front(), kFunction)) return body;
  const char* const type = awaits ? "takt::Task" : "void";
  return absl::StrCat(type, " Snippet", number, "(void) {\n", body,
                      awaits ? "co_return takt::Status();\n" : "", "}\n");
}

// Compiles the snippets of a language behind its preamble.
void Compile(const std::string& language, const std::string& preamble,
             const std::string& compiler) {
  const std::string path = absl::StrCat(testing::TempDir(), "takt_", language);
  std::ofstream file(path);
  file << "#include \"" << preamble << "\"\n";
  size_t count = 0;
  for (const Snippet& snippet : ReadSnippets()) {
    if (snippet.language != language || IsForeign(snippet)) continue;
    file << FunctionOf(snippet, ++count);
  }
  file.close();
  EXPECT_GE(count, 3u);
  int exit_code = 1;
  const std::string output =
      RunCommand(absl::StrCat(compiler,
                              " -fsyntax-only -I" TAKT_SOURCE_DIR
                              "/include -I" TAKT_SOURCE_DIR
                              "/src -I" TAKT_SOURCE_DIR "/tests/tidy/snippets ",
                              path),
                 &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
}

TEST(SnippetsTest, CCompiles) {
  Compile("c", "preamble.h", TAKT_C_COMPILER " -std=c11 -x c");
}

TEST(SnippetsTest, CxxCompiles) {
  Compile("cpp", "preamble.hpp", TAKT_CXX_COMPILER " -std=c++20 -x c++");
}

// The flags that a tool's --help names.
std::set<std::string> FlagsOf(const std::string& tool) {
  int exit_code = 1;
  const std::string help =
      RunCommand(TAKT_TOOLS_DIR "/" + tool + " --help", &exit_code);
  EXPECT_EQ(exit_code, 0) << tool << ": " << help;
  static const std::regex& kFlag = *new std::regex(R"(--[a-z_]+)");
  return {std::sregex_token_iterator(help.begin(), help.end(), kFlag),
          std::sregex_token_iterator()};
}

TEST(SnippetsTest, CommandsHaveFlagsThatTheToolsKnow) {
  static const std::regex& kFlag = *new std::regex(R"( (--[a-z_]+))");
  std::map<std::string, std::set<std::string>> known;
  size_t count = 0;
  for (const Snippet& snippet : ReadSnippets()) {
    for (size_t i = 0; i < snippet.lines.size(); ++i) {
      const std::string& text = snippet.lines[i];
      const std::string line = text.substr(0, text.find(" #"));
      if (!absl::StartsWith(line, "takt-")) continue;
      const std::string tool = line.substr(0, line.find(' '));
      if (known.count(tool) == 0) known[tool] = FlagsOf(tool);
      for (std::sregex_iterator at(line.begin(), line.end(), kFlag), end;
           at != end; ++at) {
        ++count;
        EXPECT_EQ(known[tool].count((*at)[1]), 1u)
            << snippet.page << ":" << snippet.line + i << ": " << tool
            << " has no flag " << (*at)[1];
      }
    }
  }
  EXPECT_GE(count, 20u);
}

// takt-sim reads each. Without a profile, it plays only a workload that brings
// durations.
TEST(SnippetsTest, WorkloadsAreRead) {
  size_t played_count = 0;
  for (const Snippet& snippet : ReadSnippets()) {
    if (snippet.language != "json") continue;
    const std::string path = testing::TempDir() + "takt_workload.json";
    std::ofstream(path) << absl::StrJoin(snippet.lines, "\n");
    int exit_code = 1;
    const std::string output = RunCommand(
        TAKT_TOOLS_DIR "/takt-sim " TAKT_SOURCE_DIR
                       "/tests/testdata/topology/two_clusters_npu.json " +
            path,
        &exit_code);
    played_count += exit_code == 0;
    EXPECT_TRUE(exit_code == 0 || absl::StrContains(output, "no profile has"))
        << snippet.page << ":" << snippet.line << ": " << output;
  }
  EXPECT_GE(played_count, 1u);
}

}  // namespace
}  // namespace takt::tidy
