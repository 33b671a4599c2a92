#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

ToolResult RunBenchmarkModule(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--device=local-sync"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProcess("takt-benchmark-module", arguments);
}

std::string MulModule() {
  return "--module=" + TestData("models/simple_mul.cpu.vmfb");
}

TEST(BenchmarkModuleTest, RowsAreNamedAsThePeersAre) {
  const ToolResult result = RunBenchmarkModule(
      {MulModule(), "--function=simple_mul", "--input=4xf32=1",
       "--input=4xf32=1", "--benchmark_min_time=3x"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ContainsRegex("BM_simple_mul/process_time/real_time +[0-9.]+ ms "
                            "+[0-9.]+ ms +3 items_per_second="));
}

TEST(BenchmarkModuleTest, PrintsJson) {
  const ToolResult result = RunBenchmarkModule(
      {MulModule(), "--function=simple_mul", "--input=4xf32=1",
       "--input=4xf32=1", "--benchmark_min_time=8x", "--batch_size=4",
       "--time_unit=us", "--benchmark_format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << result.out;
  const auto& row = document["benchmarks"][0];
  EXPECT_EQ(row["name"], "BM_simple_mul/process_time/real_time");
  EXPECT_EQ(row["iterations"], 8);
  EXPECT_EQ(row["time_unit"], "us");
  EXPECT_GT(row["items_per_second"], 0);
}

TEST(BenchmarkModuleTest, MinTimeMayBeSeconds) {
  const ToolResult result = RunBenchmarkModule(
      {MulModule(), "--function=simple_mul", "--input=4xf32=1",
       "--input=4xf32=1", "--benchmark_min_time=0.001s"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("BM_simple_mul/process_time/real_time "));
}

TEST(BenchmarkModuleTest, RunsAllFunctionsWithoutArguments) {
  const ToolResult result =
      RunBenchmarkModule({"--module=" + TestData("tools/pass_through.vmfb"),
                          "--benchmark_min_time=2x"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("BM_bytes/"));
  EXPECT_THAT(result.out, HasSubstr("BM_nothing/"));
  EXPECT_THAT(result.out, Not(HasSubstr("BM_view/")));
  EXPECT_THAT(result.out, Not(HasSubstr("__init")));
}

TEST(BenchmarkModuleTest, NothingToMeasureIsAnError) {
  const ToolResult one = RunBenchmarkModule({MulModule()});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_EQ(one.out, "");
  EXPECT_THAT(one.err, HasSubstr("INVALID_ARGUMENT: "));
  EXPECT_THAT(one.err,
              HasSubstr("has no function without arguments; "
                        "give the arguments of the only one with --input=: "
                        "simple_mul\n"));
  const std::string several =
      "--module=" + TestData("models/integer_types.cpu.vmfb");
  for (const ToolResult& result :
       {RunBenchmarkModule({several}),
        RunBenchmarkModule({several, "--input=4xi8=1"})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err,
                HasSubstr("choose one with --function=, and give its arguments "
                          "with --input=: add_i8, add_i16"));
  }
}

TEST(BenchmarkModuleTest, InputsAreForTheOnlyFunction) {
  const ToolResult result =
      RunBenchmarkModule({MulModule(), "--input=4xf32=1", "--input=4xf32=2",
                          "--benchmark_min_time=2x"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("BM_simple_mul/"));
}

TEST(BenchmarkModuleTest, SaysWhichValueOfTheLibrarysFlagsIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"--benchmark_min_time=abc",
       "--benchmark_min_time=abc: expected seconds (0.5s) or iterations"},
      {"--benchmark_min_time=-1s", "expected seconds (0.5s) or iterations"},
      {"--benchmark_min_time=", "expected seconds (0.5s) or iterations"},
      {"--benchmark_min_time=infs", "expected seconds (0.5s) or iterations"},
      {"--benchmark_repetitions=abc",
       "--benchmark_repetitions=abc: not a value of this flag"},
      {"--benchmark_min_warmup_time=x", "not a value of this flag"},
      {"--benchmark_format=zork",
       "--benchmark_format=zork: expected one of console, json, csv"},
      {"--benchmark_out_format=zork", "expected one of console, json, csv"},
      {"--benchmark_time_unit=zork", "expected one of ns, us, ms, s"},
      {"--benchmark_min_time", "--benchmark_min_time: needs a value"},
      {"--benchmark_zork=1", "--benchmark_zork=1: no such flag"},
  };
  for (const auto& [flag, message] : cases) {
    const ToolResult result = RunBenchmarkModule(
        {"--module=" + TestData("tools/pass_through.vmfb"), flag});
    EXPECT_EQ(result.exit_code, 1) << flag;
    EXPECT_EQ(result.out, "") << flag;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST(BenchmarkModuleTest, ListsWithoutRunning) {
  const ToolResult result =
      RunBenchmarkModule({"--module=" + TestData("tools/pass_through.vmfb"),
                          "--benchmark_list_tests"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "BM_bytes/process_time/real_time\n"
            "BM_nothing/process_time/real_time\n");
}

TEST(BenchmarkModuleTest, AFailedInvocationIsARow) {
  const ToolResult result = RunBenchmarkModule(
      {MulModule(), "--function=simple_mul", "--input=5xf32=1",
       "--input=4xf32=1", "--benchmark_min_time=2x"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("ERROR OCCURRED"));
  EXPECT_THAT(result.err, HasSubstr("simple_mul"));
}

TEST(BenchmarkModuleTest, RejectsBadFlagsByName) {
  for (const char* flag :
       {"--zork=1", "--time_unit=zork", "--batch_size=0",
        "--batch_concurrency=0", "--function=zork", "stray",
        "--benchmark_min_time=0x", "--benchmark_min_time=zorkx"}) {
    const ToolResult result = RunBenchmarkModule({MulModule(), flag});
    EXPECT_EQ(result.exit_code, 1) << flag;
    const std::string text = flag;
    EXPECT_THAT(result.err,
                HasSubstr(text == "--function=zork" ? "zork" : text));
  }
}

std::vector<std::string> MulArguments(std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      MulModule(), "--function=simple_mul", "--input=4xf32=1 2 3 4",
      "--input=4xf32=2", "--benchmark_min_time=8x"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(BenchmarkModuleTest, InvocationsMayBeInFlightTogether) {
  for (const char* concurrency : {"2", "16"}) {
    const ToolResult result = RunBenchmarkModule(MulArguments(
        {"--batch_size=4", std::string("--batch_concurrency=") + concurrency,
         "--benchmark_format=json", "--expected_output=4xf32=2 4 6 8"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("\"iterations\": 8,"));
    EXPECT_THAT(result.out, HasSubstr("[SUCCESS]"));
  }
  const ToolResult failed = RunBenchmarkModule(
      {MulModule(), "--function=simple_mul", "--input=5xf32=1",
       "--input=4xf32=1", "--batch_size=4", "--batch_concurrency=4",
       "--benchmark_min_time=8x"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("ERROR OCCURRED"));
}

TEST(BenchmarkModuleTest, ResultsOfTheLastInvocationArePrintedAndCompared) {
  const ToolResult printed =
      RunBenchmarkModule(MulArguments({"--enable_output_processing"}));
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("result[0]: hal.buffer_view\n4xf32=2 4 6 8\n"));
  const std::string path = ScratchPath("result.bin");
  EXPECT_EQ(RunBenchmarkModule(MulArguments({"--output=@" + path})).exit_code,
            0);
  EXPECT_EQ(FileContents(path).size(), 16u);
  const ToolResult wrong =
      RunBenchmarkModule(MulArguments({"--expected_output=4xf32=2 4 6 9"}));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("[FAILED]"));
  EXPECT_THAT(RunBenchmarkModule(MulArguments({})).out,
              Not(HasSubstr("result[0]")));
}

TEST(BenchmarkModuleTest, WrongFlagsOfResultsAreNamedBeforeTheRun) {
  for (const char* flag : {"--output=zork", "--expected_output=4xf32=zork"}) {
    const ToolResult result = RunBenchmarkModule(MulArguments({flag}));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("simple_mul: "));
    EXPECT_THAT(result.err, HasSubstr("zork"));
  }
}

TEST(BenchmarkModuleTest, ResultsHaveTheSignThatIsDeclared) {
  const ToolResult result = RunBenchmarkModule(
      {"--module=" + TestData("models/integer_types.cpu.vmfb"),
       "--function=pass_ui8", "--input=4xi8=0 1 127 200",
       "--benchmark_min_time=2x", "--enable_output_processing"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("4xui8=0 1 127 200"));
}

TEST(BenchmarkModuleTest, KernelsHaveRowsIfAskedFor) {
  const ToolResult result = RunBenchmarkModule(
      MulArguments({"--dispatch_statistics", "--benchmark_format=json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << result.out;
  ASSERT_EQ(document["benchmarks"].size(), 2u) << result.out;
  const auto& row = document["benchmarks"][1];
  EXPECT_THAT(row["name"].get<std::string>(),
              HasSubstr("BM_simple_mul/dispatch/simple_mul_dispatch_0"));
  EXPECT_EQ(row["dispatches"], 1);
  EXPECT_GT(row["real_time"], 0);
}

// Debian's Google Benchmark is built without NDEBUG, and says so of itself.
TEST(BenchmarkModuleTest, DoesNotCallTaktADebugBuild) {
  const ToolResult result = RunBenchmarkModule(MulArguments({}));
  EXPECT_THAT(result.err, Not(HasSubstr("Library was built")));
#ifdef NDEBUG
  EXPECT_THAT(result.err, Not(HasSubstr("DEBUG")));
#endif
  EXPECT_THAT(result.err, HasSubstr("CPU"));  // The rest is there.
}

TEST(BenchmarkModuleTest, AFileThatCannotBeWrittenIsAnError) {
  const std::string path = ScratchPath("rows.json");
  EXPECT_EQ(
      RunBenchmarkModule(MulArguments({"--benchmark_out=" + path})).exit_code,
      0);
  const auto document =
      nlohmann::json::parse(FileContents(path), nullptr, false);
  EXPECT_EQ(document["benchmarks"].size(), 1u);
  const ToolResult full =
      RunBenchmarkModule(MulArguments({"--benchmark_out=/dev/full"}));
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("/dev/full: No space left on device"));
}

TEST(BenchmarkModuleTest, PrintsHelp) {
  const ToolResult result = RunBenchmarkModule({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("--batch_size=1"));
}

}  // namespace
}  // namespace takt::tools
