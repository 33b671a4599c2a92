// What the sources of fixtures claim themselves, where the oracle has nothing
// to say: "// Fails: CODE ARGUMENTS", a run that has to fail with that code,
// and "// Prints: RESULT... ARGUMENTS", what arithmetic says of a run that the
// oracle gets wrong. Each on both devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

struct Claim {
  std::string name;                  // For the test's name.
  std::vector<std::string> expects;  // A code, or results in order.
  std::vector<std::string> arguments;
  bool fails;
};
void PrintTo(const Claim& claim, std::ostream* out) { *out << claim.name; }

Claim ReadClaim(const std::string& line, const std::string& stem,
                size_t index) {
  Claim claim{stem.substr(std::string(TAKT_TESTDATA_DIR).size() + 1) + "_" +
                  std::to_string(index),
              {},
              {"--module=" + stem + ".vmfb"},
              line.starts_with("// Fails: ")};
  std::replace_if(
      claim.name.begin(), claim.name.end(),
      [](char c) { return !std::isalnum(c); }, '_');
  size_t begin = line.find(": ") + 2;
  while (begin < line.size()) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    (word.starts_with("--") ? claim.arguments : claim.expects).push_back(word);
    begin = end + 1;
  }
  return claim;
}

std::vector<Claim> FindClaims() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TAKT_TESTDATA_DIR)) {
    if (entry.path().extension() == ".mlir") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Claim> claims;
  for (const std::string& path : paths) {
    const std::string stem = path.substr(0, path.size() - 5);
    std::ifstream file(path);
    std::string line;
    size_t index = 0;
    while (std::getline(file, line) && line.starts_with("//")) {
      if (line.starts_with("// Fails: ") || line.starts_with("// Prints: ")) {
        claims.push_back(ReadClaim(line, stem, index++));
      }
    }
  }
  return claims;
}

using FixtureClaimsTest =
    testing::TestWithParam<std::tuple<Claim, const char*>>;

TEST_P(FixtureClaimsTest, Holds) {
  const auto& [claim, device] = GetParam();
  std::vector<std::string> arguments = claim.arguments;
  arguments.push_back(std::string("--device=") + device);
  const ToolResult result = RunProcess("takt-run-module", arguments);
  if (claim.fails) {
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(result.err, testing::HasSubstr(claim.expects.at(0)));
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::string expected;
  for (size_t i = 0; i < claim.expects.size(); ++i) {
    expected += "result[" + std::to_string(i) + "]: " + claim.expects[i] + "\n";
  }
  EXPECT_EQ(result.out.substr(result.out.find('\n') + 1), expected);
}

std::string NameOf(
    const testing::TestParamInfo<FixtureClaimsTest::ParamType>& parameter) {
  const auto& [claim, device] = parameter.param;
  return claim.name + (device == std::string("local-sync") ? "_sync" : "_task");
}

INSTANTIATE_TEST_SUITE_P(Fixtures, FixtureClaimsTest,
                         testing::Combine(testing::ValuesIn(FindClaims()),
                                          testing::Values("local-sync",
                                                          "local-task")),
                         NameOf);

}  // namespace
}  // namespace takt::tools
