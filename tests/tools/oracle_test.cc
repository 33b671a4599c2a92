// Every run of the fixtures that the oracle made (tests/testdata/regenerate.py
// wrote what it printed next to them) printed by takt-run-module, on each
// device: byte for byte the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

struct OracleRun {
  std::string name;  // For the test's name.
  std::vector<std::string> arguments;
  std::string expected_path;
  std::string folder;
};
void PrintTo(const OracleRun& run, std::ostream* out) { *out << run.name; }

// Words of a shell line; quotes keep spaces.
std::vector<std::string> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && c == ' ') {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

void Replace(const std::string& from, const std::string& to,
             std::string* text) {
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

// A fixture's source and what its first comment lines say.
class Source {
 public:
  explicit Source(const std::filesystem::path& path) {
    stem_ = path.string().substr(0, path.string().size() - 5);
    folder_ = path.parent_path().string();
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      if (line.starts_with("// Run: ")) runs_.push_back(line.substr(8));
      if (line.starts_with("// Variants: ")) {
        variants_ = SplitWords(line.substr(13));
      }
      if (line.size() > 4096) break;  // Weights: no comments from here on.
    }
  }

  void AddRuns(std::vector<OracleRun>* runs) const {
    for (size_t i = 0; i < runs_.size(); ++i) {
      std::string line = runs_[i];
      Replace("%t", stem_, &line);
      Replace("%D", folder_, &line);
      std::vector<std::string> words = SplitWords(line);
      if (!words.empty() && words[0] == "iree-run-module") {
        words.erase(words.begin());
      }
      const std::string number = ".run" + std::to_string(i) + ".expected";
      const bool names_modules = line.find("--module=") != std::string::npos;
      if (names_modules || variants_.empty()) {
        if (!names_modules) words.push_back("--module=" + stem_ + ".vmfb");
        Add(words, stem_ + number, i, "", runs);
        continue;
      }
      for (const std::string& variant : variants_) {
        std::vector<std::string> with_module = words;
        with_module.push_back("--module=" + stem_ + "." + variant + ".vmfb");
        const std::string own = stem_ + "." + variant + number;
        Add(with_module, std::filesystem::exists(own) ? own : stem_ + number, i,
            variant, runs);
      }
    }
  }

 private:
  void Add(const std::vector<std::string>& arguments,
           const std::string& expected_path, size_t index,
           const std::string& variant, std::vector<OracleRun>* runs) const {
    if (!std::filesystem::exists(expected_path)) return;
    for (const char* device : {"local-sync", "local-task"}) {
      std::string name = stem_.substr(std::string(TAKT_TESTDATA_DIR).size()) +
                         "_" + variant + "_run" + std::to_string(index) + "_" +
                         device;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
          '_');
      std::vector<std::string> all = arguments;
      all.push_back(std::string("--device=") + device);
      runs->push_back({name, all, expected_path, folder_});
    }
  }

  std::string stem_;
  std::string folder_;
  std::vector<std::string> variants_;
  std::vector<std::string> runs_;
};

std::vector<OracleRun> FindRuns() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TAKT_TESTDATA_DIR)) {
    if (entry.path().extension() == ".mlir") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<OracleRun> runs;
  for (const auto& path : paths) Source(path).AddRuns(&runs);
  return runs;
}

// The first line that differs, and not a megabyte of them.
std::string FirstDifference(const std::string& actual,
                            const std::string& expected) {
  const auto at = std::mismatch(actual.begin(), actual.end(), expected.begin(),
                                expected.end());
  if (at.first == actual.end() && at.second == expected.end()) return "";
  constexpr size_t kBefore = 40;
  constexpr size_t kLength = 120;
  const size_t index = at.first - actual.begin();
  const size_t begin = index < kBefore ? 0 : index - kBefore;
  return "at byte " + std::to_string(index) +
         ":\n  actual:   " + actual.substr(begin, kLength) +
         "\n  expected: " + expected.substr(begin, kLength);
}

class OracleTest : public testing::TestWithParam<OracleRun> {};

TEST_P(OracleTest, PrintsTheSame) {
  const ToolResult result =
      RunProcess("takt-run-module", GetParam().arguments, GetParam().folder);
  EXPECT_EQ(FirstDifference(result.out, FileContents(GetParam().expected_path)),
            "");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// The same as asynchronous calls, with a wait and a signal fence of the
// caller's around each.
TEST_P(OracleTest, PrintsTheSameWithUserFences) {
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.push_back("--user_fences");
  const ToolResult result =
      RunProcess("takt-run-module", arguments, GetParam().folder);
  EXPECT_EQ(FirstDifference(result.out, FileContents(GetParam().expected_path)),
            "");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, OracleTest, testing::ValuesIn(FindRuns()),
                         [](const auto& parameter) {
                           return parameter.param.name;
                         });

}  // namespace
}  // namespace takt::tools
