#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

ToolResult RunSim(std::vector<std::string> arguments) {
  return RunProcess("takt-sim", arguments);
}

const std::string& Board() {
  static const std::string& kPath =
      *new std::string(TestData("topology/two_clusters_npu.json"));
  return kPath;
}
const std::string& Robot() {
  static const std::string& kPath =
      *new std::string(TestData("sched/robot.json"));
  return kPath;
}

TEST(SimToolTest, PrintsTheOutcomesOfEachStream) {
  const ToolResult result = RunSim({Board(), Robot(), "--seconds=0.5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("estimator"));
  EXPECT_THAT(result.out, HasSubstr("makespan"));
}

TEST(SimToolTest, TheSameSeedGivesTheSameBytes) {
  const std::vector<std::string> arguments = {
      Board(), Robot(), "--json", "--seconds=0.5", "--noise=0.5", "--seed=7"};
  const ToolResult first = RunSim(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, RunSim(arguments).out);
  const auto json = nlohmann::json::parse(first.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["policy"], "job-shop");
  EXPECT_EQ(json["streams"].size(), 5u);
}

TEST(SimToolTest, PlansWindowsInAdvance) {
  const std::vector<std::string> arguments = {
      Board(), Robot(), "--json", "--seconds=0.3", "--window_ms=50"};
  const ToolResult first = RunSim(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("estimator"));
  EXPECT_EQ(RunSim(arguments).out, first.out);
}

TEST(SimToolTest, PlaysEveryPolicyAtAnyLoad) {
  for (const char* policy :
       {"fifo", "priority", "edf", "least-slack", "shortest-latency", "heft",
        "job-shop", "laxity"}) {
    const ToolResult result =
        RunSim({Board(), Robot(), "--seconds=0.2", "--load=0.9",
                std::string("--policy=") + policy});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("load 90.0 %"));
  }
}

TEST(SimToolTest, PrintsTables) {
  ToolResult result = RunSim({Board(), Robot(), "--sweep", "--seconds=0.05"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("job-shop against the best other"));
  result = RunSim(
      {Board(), TestData("sched/xrbench.json"), "--xrbench", "--seconds=0.1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("VR_gaming"));
}

TEST(SimToolTest, ReportsTheModuleOfAProfile) {
  const std::string path = ScratchPath("profile.json");
  WriteContents(path, "{\"format\": \"takt-profile\"}");
  const ToolResult result = RunSim({Board(), Robot(), "--profile=" + path});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("is a profile of takt-plan (JSON)"));
}

TEST(SimToolTest, NamesWhatIsWrong) {
  EXPECT_EQ(RunSim({}).exit_code, 2);
  EXPECT_THAT(RunSim({"/none.json", Robot()}).err, HasSubstr("/none.json"));
  EXPECT_THAT(RunSim({Robot(), Robot()}).err,
              HasSubstr("robot.json: topology: "));
  EXPECT_THAT(RunSim({Board(), Board()}).err,
              HasSubstr("two_clusters_npu.json: workload: "));
  EXPECT_THAT(RunSim({Board(), Robot(), "--policy=best"}).err,
              HasSubstr("best"));
  for (const char* table : {"--sweep", "--xrbench"}) {
    for (const char* flag : {"--json", "--trace=t.takt-trace"}) {
      const ToolResult result = RunSim({Board(), Robot(), table, flag});
      EXPECT_EQ(result.exit_code, 2) << table << flag;
      EXPECT_THAT(result.err, HasSubstr("are for one run"));
    }
  }
  for (const char* flag :
       {"--seconds=0", "--noise=3", "--load=-1", "--window_ms=-1"}) {
    EXPECT_EQ(RunSim({Board(), Robot(), flag}).exit_code, 2) << flag;
  }
}

}  // namespace
}  // namespace takt::tools
