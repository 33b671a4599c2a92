#include "tools/common/main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ExitCodeTest, DistinguishesTheKindsOfFailure) {
  Flags flags{ToolInfo()};
  EXPECT_EQ(ExitCodeFor(flags, Status()), 0);
  EXPECT_EQ(ExitCodeFor(flags, Status(TAKT_STATUS_INTERNAL, "x")), 1);
  EXPECT_EQ(ExitCodeFor(flags, Status(TAKT_STATUS_DATA_LOSS, "x")), 3);
  EXPECT_EQ(ExitCodeFor(flags, Status(TAKT_STATUS_NOT_FOUND, "x")), 3);
  EXPECT_EQ(ExitCodeFor(flags, flags.Misuse("x")), 2);
}

TEST(ExitCodeTest, ToolsWithAPeerHaveItsOnlyOne) {
  ToolInfo info;
  info.has_peer = true;
  Flags flags(info);
  EXPECT_EQ(ExitCodeFor(flags, Status(TAKT_STATUS_DATA_LOSS, "x")), 1);
  EXPECT_EQ(ExitCodeFor(flags, flags.Misuse("x")), 1);
}

TEST(EveryToolTest, HasAVersion) {
  for (const std::string& tool : ToolNames()) {
    const ToolResult result = RunProcess(tool, {"--version"});
    EXPECT_EQ(result.exit_code, 0) << tool;
    EXPECT_THAT(result.out,
                StartsWith(tool + " (Takt) " + takt_version() + "\nmodules: "));
    EXPECT_EQ(result.err, "") << tool;
  }
}

// The text is written twice: tools know nothing of the library within.
TEST(EveryToolTest, TheVersionNamesTheModulesThatTheLibraryReads) {
  const std::string folder = std::string(TAKT_SOURCE_DIR) + "/src/vm/";
  const std::string header = FileContents(folder + "bytecode_version.h");
  const std::string name = "kSupportedCompilers[] = \"";
  const size_t begin = header.find(name) + name.size();
  ASSERT_GT(begin, name.size());
  const std::string compilers =
      header.substr(begin, header.find('"', begin) - begin);
  std::string versions;  // From lines such as "{15u << 16, ...".
  const std::string source = FileContents(folder + "bytecode_version.cc");
  const std::string shift = "u << 16,";
  for (size_t at = source.find(shift); at != std::string::npos;
       at = source.find(shift, at + 1)) {
    const size_t brace = source.rfind('{', at);
    if (!versions.empty()) versions += ", ";
    versions += source.substr(brace + 1, at - brace - 1) + ".0";
  }
  EXPECT_THAT(
      RunProcess("takt-run-module", {"--version"}).out,
      HasSubstr("\nmodules: " + compilers + " (bytecode " + versions + ")\n"));
}

TEST(EveryToolTest, HelpExplainsExitCodes) {
  for (const std::string& tool : ToolNames()) {
    EXPECT_THAT(RunProcess(tool, {"--help"}).out, HasSubstr("Exit code"));
  }
}

TEST(EveryToolTest, HelpFitsOnATerminal) {
  constexpr size_t kColumns = 95;  // The names of all policies take 93.
  for (const std::string& tool : ToolNames()) {
    std::istringstream help(RunProcess(tool, {"--help"}).out);
    for (std::string line; std::getline(help, line);) {
      EXPECT_LE(line.size(), kColumns) << tool << ": " << line;
    }
  }
}

void ExpectAnErrorOnAFullDevice(const std::string& tool,
                                const std::vector<std::string>& arguments) {
  const ToolResult result = RunProcess(tool, arguments, "", "/dev/full");
  EXPECT_GT(result.exit_code, 0) << tool << " " << arguments[0];
  EXPECT_THAT(result.err,
              HasSubstr("UNAVAILABLE: stdout: No space left on device"))
      << tool << " " << arguments[0];
}

// What stdio holds is lost at the end, and what is more than that before.
TEST(EveryToolTest, UnprintableResultsAreErrors) {
  for (const std::string& tool : ToolNames()) {
    for (const char* flag : {"--help", "--version", "--help_man"}) {
      ExpectAnErrorOnAFullDevice(tool, {flag});
    }
  }
  const std::string module = TestData("workload/policy.cpu.vmfb");
  ExpectAnErrorOnAFullDevice("takt-dump-module", {module});
  ExpectAnErrorOnAFullDevice("takt-dump-module", {module, "--json"});
  const std::string mul = "--module=" + TestData("models/simple_mul.cpu.vmfb");
  ExpectAnErrorOnAFullDevice("takt-run-module",
                             {mul, "--input=4xf32=1", "--input=4xf32=1"});
  ExpectAnErrorOnAFullDevice("takt-benchmark-module",
                             {mul, "--function=simple_mul", "--input=4xf32=1",
                              "--input=4xf32=1", "--benchmark_min_time=2x"});
  ExpectAnErrorOnAFullDevice("takt-npu-conformance", {"host"});
  ExpectAnErrorOnAFullDevice("takt-sim",
                             {TestData("topology/two_clusters_npu.json"),
                              TestData("sched/robot.json"), "--seconds=0.1"});
  const std::string trace = ScratchPath("full.takt-trace");
  ASSERT_EQ(
      RunProcess("takt-run-module", {mul, "--input=4xf32=1", "--input=4xf32=1",
                                     "--trace=" + trace})
          .exit_code,
      0);
  for (const char* command : {"show", "summary", "check"}) {
    ExpectAnErrorOnAFullDevice("takt-trace", {command, trace});
  }
}

}  // namespace
}  // namespace takt::tools
