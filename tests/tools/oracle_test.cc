// Every run of the fixtures that the oracle made (tests/testdata/regenerate.py
// wrote what it printed next to them) printed by takt-run-module, on each
// device: byte for byte the same. The oracle ran on x86_64; on other machines
// floats may differ in their last bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

// The rest of the text, and not a megabyte of it.
std::string Excerpt(const std::string& text, size_t at) {
  constexpr size_t kBefore = 40;
  constexpr size_t kLength = 120;
  return text.substr(at < kBefore ? 0 : at - kBefore, kLength);
}

#if defined(__x86_64__)
std::string FirstDifference(const std::string& actual,
                            const std::string& expected) {
  const auto at = std::mismatch(actual.begin(), actual.end(), expected.begin(),
                                expected.end());
  if (at.first == actual.end() && at.second == expected.end()) return "";
  const size_t index = at.first - actual.begin();
  return "at byte " + std::to_string(index) +
         ":\n  actual:   " + Excerpt(actual, index) +
         "\n  expected: " + Excerpt(expected, index);
}
#else
// Whether a number that is printed with six digits is the same. A processor
// that multiplies and adds with one rounding, or takes numbers that are not
// normal for 0, gets others in the last bits. The sign of a number that is none
// is the machine's.
bool IsNear(const std::string& actual, const std::string& expected) {
  char* end = nullptr;
  const double a = std::strtod(actual.c_str(), &end);
  if (end == actual.c_str() || *end != '\0') return false;
  const double b = std::strtod(expected.c_str(), &end);
  if (end == expected.c_str() || *end != '\0') return false;
  const bool are_integers =
      (actual + expected).find_first_not_of("-0123456789") == std::string::npos;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (are_integers) return a == b;
  return std::abs(a - b) <= 1e-6 + 1e-5 * std::abs(b);
}

// Words are what stands between spaces, brackets and '='.
std::string FirstDifference(const std::string& actual,
                            const std::string& expected) {
  constexpr char kBetween[] = " =[]\n";
  size_t i = 0, j = 0;
  while (i < actual.size() || j < expected.size()) {
    size_t i_end = std::min(actual.find_first_of(kBetween, i), actual.size());
    size_t j_end =
        std::min(expected.find_first_of(kBetween, j), expected.size());
    const std::string word = actual.substr(i, i_end - i);
    const std::string wanted = expected.substr(j, j_end - j);
    if ((word != wanted && !IsNear(word, wanted)) ||
        (i_end < actual.size()) != (j_end < expected.size()) ||
        (i_end < actual.size() && actual[i_end] != expected[j_end])) {
      return "at byte " + std::to_string(i) +
             ":\n  actual:   " + Excerpt(actual, i) +
             "\n  expected: " + Excerpt(expected, j);
    }
    i = i_end + 1;
    j = j_end + 1;
  }
  return "";
}
#endif

// What the oracle printed. It prints results that are declared to be unsigned
// with a sign, and Takt as they are declared.
std::string ExpectedText(const OracleRun& run) {
  std::string text = FileContents(run.expected_path);
  for (const std::string& argument : run.arguments) {
    if (argument != "--function=pass_ui8") continue;
    Replace("4xi8=-1 0 1 127", "4xui8=255 0 1 127", &text);
  }
  return text;
}

class OracleTest : public testing::TestWithParam<OracleRun> {};

TEST_P(OracleTest, PrintsTheSame) {
  const ToolResult result =
      RunProcess("takt-run-module", GetParam().arguments, GetParam().folder);
  EXPECT_EQ(FirstDifference(result.out, ExpectedText(GetParam())), "");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// The same as asynchronous calls, with a wait and a signal fence of the
// caller's around each.
TEST_P(OracleTest, PrintsTheSameWithUserFences) {
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.push_back("--user_fences");
  const ToolResult result =
      RunProcess("takt-run-module", arguments, GetParam().folder);
  EXPECT_EQ(FirstDifference(result.out, ExpectedText(GetParam())), "");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, OracleTest, testing::ValuesIn(FindRuns()),
                         [](const auto& parameter) {
                           return parameter.param.name;
                         });

}  // namespace
}  // namespace takt::tools
