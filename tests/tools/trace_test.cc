#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ToolResult RunTrace(std::vector<std::string> arguments) {
  return RunProcess("takt-trace", arguments);
}

// A trace of one call.
std::string RecordedCall() {
  const std::string path = ScratchPath("call.takt-trace");
  const ToolResult result = RunProcess(
      "takt-run-module",
      {"--module=" + TestData("api/simple_mul.vmfb"), "--function=mul",
       "--input=4xf32=1 2 3 4", "--input=4xf32=2", "--trace=" + path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return path;
}

std::string SimulatedRun(const std::string& name, const std::string& seed) {
  const std::string path = ScratchPath(name);
  const ToolResult result = RunProcess(
      "takt-sim",
      {TestData("topology/two_clusters_npu.json"), TestData("sched/robot.json"),
       "--seconds=0.3", "--noise=0.2", "--seed=" + seed, "--trace=" + path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return path;
}

TEST(TraceToolTest, ShowsWhatACallDid) {
  const std::string path = RecordedCall();
  ToolResult result = RunTrace({"show", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("run, "));
  EXPECT_THAT(result.out, HasSubstr("dispatch mul_dispatch_0"));
  EXPECT_THAT(result.out, HasSubstr("invocation_end simple.mul"));
  result = RunTrace({"show", path, "--json"});
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["simulated"], false);
  EXPECT_GT(json["events"].size(), 5u);
}

TEST(TraceToolTest, ConvertsByTheNameOfTheFile) {
  const std::string path = RecordedCall();
  const auto converted = [&](const std::string& name) {
    const std::string to = ScratchPath(name);
    const ToolResult result = RunTrace({"convert", path, to});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return FileContents(to);
  };
  EXPECT_THAT(converted("t.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(converted("t.txt"), StartsWith("run, "));
  EXPECT_FALSE(nlohmann::json::parse(converted("t.json"), nullptr, false)
                   .is_discarded());
  EXPECT_EQ(converted("t.pftrace"), FileContents(path));
}

TEST(TraceToolTest, SumsUpAndChecksASimulatedRun) {
  const std::string path = SimulatedRun("sim.takt-trace", "7");
  ToolResult result = RunTrace({"summary", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("simulation of "));
  EXPECT_THAT(result.out, HasSubstr("estimator"));
  result = RunTrace({"summary", path, "--json"});
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["streams"].size(), 5u);
  result = RunTrace({"check", path});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, StartsWith("0 faults in "));
  result = RunTrace({"check", path, "--json"});
  EXPECT_THAT(result.out, StartsWith("{\"faults\": 0, "));
  result = RunTrace({"compare", path});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "nothing was planned\n");
}

TEST(TraceToolTest, ExplainsTheJobsOfASimulatedRun) {
  const std::string path = SimulatedRun("explained.takt-trace", "7");
  ToolResult result = RunTrace({"explain", path, "--jobs=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("jobs late; usually done in"));
  EXPECT_THAT(result.out, HasSubstr("cause: "));
  result = RunTrace({"explain", path, "--json"});
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["streams"].size(), 5u);
  for (const auto& stream : json["streams"]) {
    for (const auto& job : stream["explained"]) {
      int64_t sum_ns = 0;
      for (const auto& use_ns : job["use_ns"]) sum_ns += use_ns.get<int64_t>();
      EXPECT_EQ(sum_ns,
                job["end_ns"].get<int64_t>() - job["origin_ns"].get<int64_t>());
    }
  }
  result = RunTrace({"explain", path, "--jobs=-1"});
  EXPECT_EQ(result.exit_code, 2);
}

TEST(TraceToolTest, TheSameSeedGivesTheSameTrace) {
  const std::string one = FileContents(SimulatedRun("one", "7"));
  EXPECT_EQ(one, FileContents(SimulatedRun("two", "7")));
  EXPECT_NE(one, FileContents(SimulatedRun("three", "8")));
}

TEST(TraceToolTest, ASimulatedRunCanBePlayedAgain) {
  const std::string path = SimulatedRun("again.takt-trace", "7");
  ToolResult result = RunProcess("takt-sim", {"replay", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("estimator"));
  result = RunProcess("takt-sim", {"replay", path, "--json", "--cores=2"});
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.err;
  EXPECT_EQ(json["cores"], 2);
  result = RunProcess("takt-sim", {"replay", TestData("sched/robot.json")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("robot.json: "));
}

TEST(TraceToolTest, FindsFaults) {
  // Two batches at once, as no NPU does: header, track, events.
  const auto field = [](int tag, const std::string& bytes) {
    return std::string{static_cast<char>(tag << 3 | 2),
                       static_cast<char>(bytes.size())} +
           bytes;
  };
  const std::string header(
      "\x18\xff\x01\x48\x03\x58\x01\x22\x04\x08\x06\x18\x01", 13);
  const std::string track("\xe2\x03\x05\x08\x80\x02\x28\x13", 8);
  const auto batch = [&](char time) {
    return field(1, std::string("\x40") + time +
                        field(11, std::string("\x48\x01\x58\x80\x02\x18\x04"
                                              "\x22\x04\x08\x05\x18\x64",
                                              13)));
  };
  const std::string path = ScratchPath("faulty");
  WriteContents(path, field(1, field(11, header)) + field(1, track) +
                          batch(10) + batch(50));
  const ToolResult result = RunTrace({"check", path});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 faults in 2 events"));
  EXPECT_THAT(result.out, HasSubstr("at 50 ns"));
}

TEST(TraceToolTest, RefusesInvalidOptions) {
  const auto fails = [](int exit_code, std::vector<std::string> arguments,
                        const std::string& message) {
    const ToolResult result = RunTrace(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  fails(2, {}, "no command");
  fails(2, {"paint", "x"}, "no command \"paint\"");
  fails(2, {"show"}, "expected `show FILE`");
  fails(2, {"convert", "x"}, "expected `convert FILE TO`");
  fails(3, {"show", "/nowhere"}, "NOT_FOUND");
  fails(3, {"show", TestData("sched/robot.json")}, "DATA_LOSS");
  fails(2, {"show", "--lines=3", "x"}, "lines");
}

TEST(TraceToolTest, WritesToAnExistingFile) {
  const std::string path = SimulatedRun("there.takt-trace", "7");
  const std::string contents = FileContents(path);
  // A link stays one, and what it leads to keeps its mode.
  const std::string target = ScratchPath("target.pftrace");
  WriteContents(target, "old");
  ASSERT_EQ(chmod(target.c_str(), 0600), 0);
  const std::string link = ScratchPath("link.pftrace");
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  EXPECT_EQ(RunTrace({"convert", path, link}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(FileContents(target), contents);
  EXPECT_EQ(
      std::filesystem::status(target).permissions(),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  // A FIFO is written to.
  const std::string fifo = ScratchPath("fifo.pftrace");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = FileContents(fifo); });
  EXPECT_EQ(RunTrace({"convert", path, fifo}).exit_code, 0);
  reader.join();
  EXPECT_TRUE(read == contents);
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  // "-" is stdout.
  const ToolResult printed = RunTrace({"convert", path, "-"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(printed.out == contents);
  // A full device is an error; behind a link, which a mistake would cost.
  const std::string full = ScratchPath("full.pftrace");
  ASSERT_EQ(symlink("/dev/full", full.c_str()), 0);
  const ToolResult failed = RunTrace({"convert", path, full});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr(full));
  EXPECT_TRUE(std::filesystem::is_symlink(full));
}

TEST(TraceToolTest, HelpListsTheCommands) {
  const ToolResult result = RunTrace({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("takt-trace convert FILE TO"));
}

TEST(TraceToolTest, ATraceThatCannotBeWrittenIsAnError) {
  const ToolResult result = RunProcess(
      "takt-run-module",
      {"--module=" + TestData("api/simple_mul.vmfb"), "--function=mul",
       "--input=4xf32=1", "--input=4xf32=2", "--trace=/nowhere/t"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("/nowhere/t"));
}

}  // namespace
}  // namespace takt::tools
