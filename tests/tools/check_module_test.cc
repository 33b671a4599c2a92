#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

ToolResult RunCheckModule(const std::vector<std::string>& arguments) {
  return RunProcess("takt-check-module", arguments);
}

class CheckModuleTest : public testing::TestWithParam<const char*> {};

TEST_P(CheckModuleTest, AllPass) {
  for (const char* variant : {"cpu", "vmvx"}) {
    const ToolResult result = RunCheckModule(
        {std::string("--device=") + GetParam(),
         TestData(std::string("tools/check_passing.") + variant + ".vmfb")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out,
              "[PASSED] adds\n[PASSED] adds_twice\n[PASSED] nearly\n"
              "3 passed, 0 failed\n");
  }
}

TEST_P(CheckModuleTest, ATestContinuesAfterAFailureAndSoDoTheOthers) {
  const ToolResult result =
      RunCheckModule({std::string("--device=") + GetParam(),
                      "--module=" + TestData("tools/check_mixed.cpu.vmfb")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("[PASSED] adds\n[FAILED] adds_wrong\n"));
  EXPECT_THAT(result.out, HasSubstr("[2]: expected 7, got 6"));
  EXPECT_THAT(result.out, HasSubstr("[3]: expected 9, got 8"));
  EXPECT_THAT(result.out, HasSubstr("[PASSED] nearly\n[FAILED] fails\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("has_")));
  EXPECT_THAT(result.out, EndsWith("\n2 passed, 2 failed\n"));
}

INSTANTIATE_TEST_SUITE_P(Devices, CheckModuleTest,
                         testing::Values("local-sync", "local-task"));

TEST(CheckModuleToolTest, PrintsJson) {
  const ToolResult result =
      RunCheckModule({"--json", TestData("tools/check_mixed.cpu.vmfb")});
  EXPECT_EQ(result.exit_code, 1);
  const auto document = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << result.out;
  EXPECT_EQ(document["passed"], 2);
  EXPECT_EQ(document["failed"], 2);
  EXPECT_EQ(document["tests"][0]["name"], "adds");
  EXPECT_EQ(document["tests"][0]["passed"], true);
  EXPECT_EQ(document["tests"][1]["faults"].size(), 2u);
}

TEST(CheckModuleToolTest, AModuleWithoutTestsFails) {
  const ToolResult result =
      RunCheckModule({TestData("models/simple_mul.cpu.vmfb")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("simple_mul.cpu.vmfb"));
}

TEST(CheckModuleToolTest, RejectsWhatItCannotLoad) {
  EXPECT_EQ(RunCheckModule({}).exit_code, 2);
  EXPECT_EQ(RunCheckModule({"/nonexistent.vmfb"}).exit_code, 3);
  EXPECT_EQ(RunCheckModule({"--zork"}).exit_code, 2);
}

TEST(CheckModuleToolTest, PrintsHelp) {
  EXPECT_EQ(RunCheckModule({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace takt::tools
