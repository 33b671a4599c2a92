#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

ToolResult RunTool(const std::vector<std::string>& arguments) {
  return RunProcess("takt-plan", arguments);
}

// Two jobs of two operations: 2 on machine 1, then 2 on machine 2 (or 3 on 1);
// 3 on machine 2, then 3 on machine 1 (or 4 on 2). The second cannot end
// before 6, and there is a schedule that does.
const char kInstance[] = "plan/two_jobs.fjs";

std::string Solved() {
  return RunTool({"solve", TestData(kInstance), "--time-limit=0.2", "--json"})
      .out;
}

std::string Written(const char* name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::FILE* file = std::fopen(path.c_str(), "w");
  EXPECT_NE(file, nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
  return path;
}

TEST(PlanToolTest, SolvesToTheOptimum) {
  const auto json = nlohmann::json::parse(Solved(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["makespan"], 6);
  EXPECT_EQ(json["schedule"].size(), 4u);
  EXPECT_LE(json["lower_bound"], 6);
}

TEST(PlanToolTest, PrintsTheScheduleAsText) {
  const ToolResult result =
      RunTool({"solve", TestData(kInstance), "--time-limit=0.2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("makespan 6, lower bound "));
  EXPECT_THAT(result.out, HasSubstr("operation 3: machine "));
}

TEST(PlanToolTest, SolvesGraphs) {
  const ToolResult result =
      RunTool({"solve", TestData("plan/diamond.fajs"), "--time-limit=0.2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("makespan 7, "));
}

TEST(PlanToolTest, ChecksWhatItSolved) {
  const std::string path = Written("solved.json", Solved());
  const ToolResult result = RunTool({"check", TestData(kInstance), path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "valid, makespan 6\n");
}

TEST(PlanToolTest, NamesWhatIsWrong) {
  auto json = nlohmann::json::parse(Solved());
  json["schedule"][1]["start"] = 0;  // With, or before, its predecessor.
  const std::string path = Written("wrong.json", json.dump());
  const ToolResult text = RunTool({"check", TestData(kInstance), path});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("wrong.json"));
  EXPECT_THAT(text.err, HasSubstr("operation 1"));
  const ToolResult result =
      RunTool({"check", TestData(kInstance), path, "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(result.out)["valid"], false);
}

TEST(PlanToolTest, RefusesFilesOfOtherKinds) {
  EXPECT_EQ(RunTool({"solve", "/nonexistent.fjs"}).exit_code, 1);
  const ToolResult bad =
      RunTool({"solve", Written("bad.fjs", "2 2\n1 1 9 5\n1 1 1 5\n")});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("bad.fjs"));
  EXPECT_THAT(bad.err, HasSubstr("token "));
  for (const char* text :
       {"", "[]", "{\"makespan\": 1}", "{\"makespan\": 1, \"schedule\": [1]}",
        "{\"makespan\": 1, \"schedule\": [{\"alternative\": -1, "
        "\"start\": 0}]}"}) {
    const ToolResult result =
        RunTool({"check", TestData(kInstance), Written("no.json", text)});
    EXPECT_EQ(result.exit_code, 1) << text;
    EXPECT_THAT(result.err, HasSubstr("no.json")) << text;
  }
}

TEST(PlanToolTest, RefusesBadFlags) {
  EXPECT_EQ(RunTool({}).exit_code, 1);
  EXPECT_EQ(RunTool({"fly", TestData(kInstance)}).exit_code, 1);
  EXPECT_EQ(RunTool({"solve"}).exit_code, 1);
  EXPECT_EQ(RunTool({"solve", TestData(kInstance), "--threads=0"}).exit_code,
            1);
  EXPECT_EQ(
      RunTool({"solve", TestData(kInstance), "--time-limit=-1"}).exit_code, 1);
  EXPECT_EQ(RunTool({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace takt::tools
