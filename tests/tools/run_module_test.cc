// takt-run-module as its users see it. oracle_test.cc compares what runs that
// work print; this file tests what the oracle does not do, or does otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

ToolResult RunRunModule(const std::vector<std::string>& arguments) {
  return RunProcess("takt-run-module", arguments);
}

// Runs a function of the fixture that gives back what it gets.
ToolResult Pass(const std::string& function,
                const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "--module=" + TestData("tools/pass_through.vmfb"),
      "--function=" + function, "--device=local-sync"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunRunModule(arguments);
}

std::string MulModule() {
  return "--module=" + TestData("models/simple_mul.cpu.vmfb");
}

// The error of a run that fails without output.
std::string Error(const ToolResult& result) {
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("takt-run-module: "));
  return result.err;
}

TEST(RunModuleTest, PrintsHelp) {
  const ToolResult result = RunRunModule({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* flag :
       {"module", "function", "device", "input", "output", "expected_output",
        "parameters", "module_mode", "parameter_mode", "print_statistics",
        "user_fences", "output_max_element_count", "expected_f32_threshold",
        "equality_mode", "flagfile"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("  --") + flag + "="));
  }
}

TEST(RunModuleTest, LimitsEndACall) {
  const auto loops = [](const std::string& limit) {
    return RunRunModule({"--module=" + TestData("tools/vm_loops.vmfb"),
                         "--function=scalar", limit});
  };
  EXPECT_THAT(loops("--step_limit=1000").err,
              AllOf(HasSubstr("RESOURCE_EXHAUSTED"), HasSubstr("step limit")));
  EXPECT_EQ(loops("--step_limit=0").exit_code, 0);
  EXPECT_EQ(loops("--step_limit=1000000000").exit_code, 0);
  EXPECT_EQ(loops("--time_limit=600").exit_code, 0);
  // It would take seconds.
  EXPECT_THAT(RunRunModule({"--module=" + TestData("vm/control.vmfb"),
                            "--function=loop", "--input=2147483647",
                            "--input=2147483647", "--time_limit=0.000001"})
                  .err,
              HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(loops("--time_limit=-1").err, HasSubstr("--time_limit"));
  const ToolResult result = RunRunModule(
      {MulModule(), "--input=4xf32=1", "--input=4xf32=2", "--memory_limit=8"});
  EXPECT_THAT(result.err, AllOf(HasSubstr("RESOURCE_EXHAUSTED"),
                                HasSubstr("memory limit")));
}

TEST(RunModuleTest, ResultsHaveTheSignThatIsDeclared) {
  const auto pass = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "--module=" + TestData("models/integer_types.cpu.vmfb"),
        "--function=pass_ui8", "--input=4xi8=0 1 127 200"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunRunModule(arguments);
  };
  EXPECT_THAT(pass({}).out, HasSubstr("\n4xui8=0 1 127 200\n"));
  const auto json = nlohmann::json::parse(pass({"--json"}).out, nullptr, false);
  EXPECT_EQ(json["results"][0]["element_type"], "ui8");
  EXPECT_EQ(json["results"][0]["elements"][3], 200);
  const std::string path = ScratchPath("unsigned.npy");
  EXPECT_EQ(pass({"--output=@" + path}).exit_code, 0);
  EXPECT_THAT(FileContents(path), HasSubstr("'descr': '|u1'"));
  EXPECT_EQ(pass({"--expected_output=@" + path}).exit_code, 0);
  EXPECT_THAT(pass({"--expected_output=4xi8=0 1 127 201"}).out,
              HasSubstr("element at index 3 (200) does not match"));
  // Without a sign in the declaration, as the oracle has it.
  EXPECT_THAT(
      RunRunModule({"--module=" + TestData("models/integer_types.cpu.vmfb"),
                    "--function=add_i8", "--input=4xui8=0 1 2 100"})
          .out,
      HasSubstr("4xi8=0 2 4 -56"));
  EXPECT_THAT(Pass("view", {"--input=2xui8=255 1"}).out,
              HasSubstr("2xui8=255 1"));
}

TEST(RunModuleTest, RunsTheOnlyFunction) {
  const ToolResult result =
      RunRunModule({MulModule(), "--input=4xf32=1 2 3 4", "--input=4xf32=2",
                    "--module_mode=mmap"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "EXEC @simple_mul\nresult[0]: hal.buffer_view\n4xf32=2 4 6 8\n");
  EXPECT_EQ(result.err, "");
}

TEST(RunModuleTest, FlagsMayBeInAFile) {
  const std::string path = ScratchPath("flags");
  WriteContents(path, "# The product.\n" + MulModule() +
                          "\n--input=\"4xf32=1 2 3 4\"\n--input=4xf32=2\n");
  EXPECT_EQ(RunRunModule({"--flagfile=" + path}).out,
            "EXEC @simple_mul\nresult[0]: hal.buffer_view\n4xf32=2 4 6 8\n");
}

TEST(RunModuleTest, PrintsElementsBelowAByte) {
  EXPECT_EQ(Pass("view", {"--input=4xi4=1 -2 7 -8"}).out,
            "EXEC @view\nresult[0]: hal.buffer_view\n4xi4=1 -2 7 -8\n");
}

TEST(RunModuleTest, ComparesScalars) {
  const std::vector<std::string> inputs = {"--input=2xf32=1", "--input=3"};
  auto with = [&](const char* first, const char* second) {
    std::vector<std::string> arguments = inputs;
    arguments.push_back(std::string("--expected_output=") + first);
    arguments.push_back(std::string("--expected_output=") + second);
    return Pass("mixed", arguments);
  };
  ToolResult result = with("2xf32=1", "3");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "EXEC @mixed\n[SUCCESS] all function outputs matched their "
            "expected values.\n");
  result = with("2xf32=1 2", "4");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out,
            "EXEC @mixed\n[FAILED] result[0]: element at index 1 (1) does not "
            "match the expected (2); expected that the view is equal to "
            "contents of a view of 2xf32\n  expected:\n2xf32=1 2\n  actual:\n"
            "2xf32=1 1\n[FAILED] result[1]: value i32=3 does not match the "
            "expected i32=4\n");
  EXPECT_EQ(with("(ignored)", "(ignored)").exit_code, 0);
  EXPECT_EQ(with("2xf32=1.01", "3").exit_code, 1);
  EXPECT_EQ(Pass("mixed", {"--input=2xf32=1", "--input=3",
                           "--expected_output=2xf32=1.01",
                           "--expected_output=3", "--expected_f32_threshold=1"})
                .exit_code,
            0);
}

TEST(RunModuleTest, WritesWhatItCanReadAgain) {
  const std::string path = ScratchPath("results.npy");
  ASSERT_EQ(Pass("mixed", {"--input=2x2xf32=1 2 3 4", "--input=7",
                           "--output=@" + path, "--output=+" + path})
                .exit_code,
            0);
  EXPECT_EQ(Pass("mixed", {"--input=@" + path, "--input=7",
                           "--expected_output=@" + path, "--expected_output=7"})
                .out,
            "EXEC @mixed\n[SUCCESS] all function outputs matched their "
            "expected values.\n");
}

TEST(RunModuleTest, PrintsStatisticsToStderr) {
  const ToolResult result =
      RunRunModule({MulModule(), "--input=4xf32=1", "--input=4xf32=1",
                    "--device=local-sync", "--print_statistics"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("Device: local-sync\n"));
}

TEST(RunModuleTest, SaysThatNothingRunsOnTheNpu) {
  const ToolResult result = RunRunModule(
      {MulModule(), "--input=4xf32=1", "--input=4xf32=1", "--device=local-task",
       "--device=npu-sim", "--print_statistics"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("is for the NPU, so the CPU does all"));
  EXPECT_THAT(result.err, HasSubstr("NPUs without code for them: 1\n"));
  EXPECT_THAT(result.err, HasSubstr("  NPU: 0 batches / 0 operations"));
}

TEST(RunModuleTest, APolicyDecides) {
  const std::string trace = ScratchPath("policy.txt");
  for (const char* policy : {"off", "job-shop"}) {
    const ToolResult result =
        RunRunModule({MulModule(), "--input=4xf32=1 2 3 4", "--input=4xf32=2",
                      std::string("--policy=") + policy, "--trace=" + trace});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("4xf32=2 4 6 8"));
    const std::string recorded = FileContents(trace);
    EXPECT_EQ(recorded.find("decision_start") != std::string::npos,
              policy != std::string("off"));
  }
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--policy=zork"})),
              AllOf(HasSubstr("--policy=zork"), HasSubstr("job-shop")));
}

TEST(RunModuleTest, ReadsParameters) {
  const std::string file = TestData("models/weights.irpa");
  const std::string module =
      "--module=" + TestData("models/parameters.cpu.vmfb");
  for (const char* mode : {"file", "preload"}) {
    EXPECT_EQ(RunRunModule({module, "--input=4x64xf32=1", "--output=",
                            std::string("--parameter_mode=") + mode,
                            "--parameters=model=" + file})
                  .exit_code,
              0);
  }
  EXPECT_THAT(Error(RunRunModule({module, "--input=4x64xf32=1"})),
              HasSubstr("model"));
  EXPECT_THAT(
      Error(RunRunModule({module, "--parameters=model=/nonexistent.irpa"})),
      HasSubstr("/nonexistent.irpa"));
}

TEST(RunModuleTest, WeightsThatNoModuleReadsNeedNotExist) {
  const ToolResult result =
      RunRunModule({MulModule(), "--input=4xf32=1 2 3 4", "--input=4xf32=2",
                    "--parameters=/nonexistent.irpa"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(RunModuleTest, PrintsJson) {
  const ToolResult result = RunRunModule(
      {MulModule(), "--input=4xf32=1 2 3 nan", "--input=4xf32=2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out;
  EXPECT_EQ(json["function"], "simple_mul");
  const auto& view = json["results"][0];
  EXPECT_EQ(view["type"], "hal.buffer_view");
  EXPECT_EQ(view["element_type"], "f32");
  EXPECT_EQ(view["shape"], nlohmann::json({4}));
  EXPECT_EQ(view["elements"][2], 6);
  EXPECT_TRUE(view["elements"][3].is_string());
  const ToolResult wrong =
      RunRunModule({MulModule(), "--input=4xf32=1", "--input=4xf32=2", "--json",
                    "--expected_output=4xf32=3"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["as_expected"], false);
}

TEST(RunModuleTest, ListsDriversAndDevices) {
  const ToolResult drivers = RunRunModule({"--list_drivers"});
  EXPECT_EQ(drivers.exit_code, 0) << drivers.err;
  EXPECT_THAT(drivers.out, HasSubstr("      local-task: "));
  const ToolResult devices = RunRunModule({"--list_devices"});
  EXPECT_THAT(devices.out, StartsWith("local-sync://\nlocal-task://\n"));
  EXPECT_EQ(RunRunModule({"--list_devices=local-task"}).out, "local-task://\n");
  const ToolResult dump = RunRunModule(
      {"--dump_devices=local-task", "--task_topology_group_count=3"});
  EXPECT_THAT(dump.out, HasSubstr("--device=local-task://\n"));
  EXPECT_THAT(dump.out, HasSubstr("3 workers"));
  EXPECT_THAT(Error(RunRunModule({"--list_devices=zork"})), HasSubstr("zork"));
}

TEST(RunModuleTest, ReportsTheDurationsOfKernels) {
  const ToolResult result =
      RunRunModule({MulModule(), "--input=4xf32=1", "--input=4xf32=2",
                    "--print_device_statistics", "--trace_execution"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("[local-task] dispatch simple_mul_dispatch_0"));
  EXPECT_THAT(result.err, HasSubstr("Device: local-task\n"));
  EXPECT_THAT(result.err, HasSubstr("total us"));
}

TEST(RunModuleTest, ErrorsOfFlagsNameTheFlag) {
  EXPECT_THAT(Error(RunRunModule({})), HasSubstr("--module"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--zork"})),
              HasSubstr("--zork"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "zork"})), HasSubstr("zork"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--module_mode=zork"})),
              AllOf(HasSubstr("--module_mode=zork"), HasSubstr("preload")));
  EXPECT_THAT(
      Error(RunRunModule({MulModule(), "--output_max_element_count=zork"})),
      HasSubstr("--output_max_element_count=zork"));
  EXPECT_THAT(
      Error(RunRunModule({MulModule(), "--output_max_element_count=-1"})),
      HasSubstr("--output_max_element_count=-1"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--print_statistics=zork"})),
              HasSubstr("--print_statistics=zork"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--device=zork"})),
              AllOf(HasSubstr("--device=zork"), HasSubstr("local-task")));
  EXPECT_THAT(Error(RunRunModule({"--flagfile=/nonexistent"})),
              HasSubstr("/nonexistent"));
}

TEST(RunModuleTest, ErrorsOfFilesNameTheFile) {
  EXPECT_THAT(Error(RunRunModule({"--module=/nonexistent.vmfb"})),
              AllOf(HasSubstr("NOT_FOUND"), HasSubstr("/nonexistent.vmfb")));
  const std::string path = ScratchPath("zork.vmfb");
  WriteContents(path, "zork");
  EXPECT_THAT(Error(RunRunModule({"--module=" + path})), HasSubstr(path));
  EXPECT_THAT(Error(RunRunModule({"--module=" + std::string("/")})),
              HasSubstr("/"));
}

TEST(RunModuleTest, ErrorsOfFunctionsNameModuleAndFunctions) {
  const std::string path = TestData("tools/pass_through.vmfb");
  EXPECT_THAT(Error(RunRunModule({"--module=" + path})),
              AllOf(HasSubstr(path), HasSubstr("mixed"), HasSubstr("views")));
  EXPECT_THAT(Error(Pass("zork", {})),
              AllOf(HasSubstr(path), HasSubstr("zork")));
}

TEST(RunModuleTest, ErrorsOfInputsNameFileFunctionAndInput) {
  const std::string path = TestData("models/simple_mul.cpu.vmfb");
  EXPECT_THAT(Error(RunRunModule(
                  {MulModule(), "--input=4xf32=1", "--input=4xf32=1 x"})),
              HasSubstr(path + ": simple_mul: input 1 (`4xf32=1 x`): "));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--input=4xf32=1",
                                  "--input=f32=2", "--input=f32=3"})),
              HasSubstr("simple_mul: input 2 (`f32=3`): expected 2 values"));
  EXPECT_THAT(Error(RunRunModule({MulModule(), "--input=@/nonexistent.npy"})),
              HasSubstr("input 0 (`@/nonexistent.npy`): /nonexistent.npy: "));
}

TEST(RunModuleTest, ErrorsOfInvocationsSayWhatWasExpected) {
  const auto run = [](const std::string& first, const std::string& second) {
    ToolResult result =
        RunRunModule({MulModule(), "--input=" + first, "--input=" + second});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "EXEC @simple_mul\n");
    return result.err;
  };
  EXPECT_THAT(run("5xf32=1", "4xf32=1"),
              AllOf(HasSubstr("simple_mul"), HasSubstr("input 0"),
                    HasSubstr("4xf32"), HasSubstr("5xf32")));
  EXPECT_THAT(run("4xf32=1", "4xi32=1"),
              AllOf(HasSubstr("input 1"), HasSubstr("4xi32")));
  const ToolResult result = RunRunModule({MulModule(), "--input=4xf32=1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("2"));
}

TEST(RunModuleTest, AWriteThatFailsNamesTheResult) {
  const ToolResult result =
      Pass("view", {"--input=f32=1", "--output=@/dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("EXEC @view"));
  EXPECT_THAT(result.err, HasSubstr("view: result 0: --output=@/dev/full"));
}

// A run may take hours.
TEST(RunModuleTest, WrongFlagsOfResultsAreNamedBeforeTheRun) {
  const struct {
    std::vector<std::string> flags;
    const char* message;
  } cases[] = {
      {{"--output=zork"}, "view: result 0: --output=zork: expected"},
      {{"--output=@/nonexistent/f.npy"}, "result 0: --output=@/nonexistent/f"},
      {{"--trace=/nonexistent/f"}, "/nonexistent/f: No such file"},
      {{"--output=-", "--output=-"}, "1 results, but there are 2 flags"},
      {{"--expected_output=f32=zork"}, "expected output 0 (`f32=zork`)"},
  };
  for (const auto& each : cases) {
    std::vector<std::string> arguments = {"--input=f32=1"};
    arguments.insert(arguments.end(), each.flags.begin(), each.flags.end());
    const ToolResult result = Pass("view", arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(each.message));
  }
}

}  // namespace
}  // namespace takt::tools
