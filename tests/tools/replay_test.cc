// Captures of streams and takt-run-module --replay, which runs them again.
#include "tools/common/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

// A stream of simple_mul, or of another function, has run a few jobs; the path
// of its capture.
std::string Captured(const std::string& model = "models/simple_mul.cpu.vmfb",
                     const char* name = "simple_mul") {
  const std::string module_path = TestData(model);
  auto instance = Instance::Create().value();
  auto device = Device::Create(instance, "local-sync").value();
  auto module = Module::Load(instance, module_path).value();
  auto context = Context::Create(instance, {module}, {device}).value();
  auto function = context.FindFunction(name).value();
  auto stream =
      Stream::Create(function, {.period_ns = 1'000'000, .capture_job_count = 8})
          .value();
  if (function.signature().argument_count() == 1) {
    EXPECT_TRUE(stream.SetInput({Value(int32_t{3})}).ok());
  } else {
    for (const size_t index : {0, 1}) {
      std::span<float> input = stream.MapInput<float>(index).value();
      std::ranges::fill(input, 1.5f + static_cast<float>(index));
    }
    EXPECT_TRUE(stream.PublishInput().ok());
  }
  EXPECT_TRUE(stream.Start(takt_clock_now_ns()).ok());
  while (stream.statistics().met_count + stream.statistics().missed_count < 3) {
    EXPECT_TRUE(stream.WaitIdle().ok());
  }
  stream.Stop();
  EXPECT_TRUE(stream.WaitIdle().ok());
  const std::string path = ScratchPath("replay.safetensors");
  EXPECT_TRUE(stream.WriteCapture(path).ok());
  return path;
}

ToolResult ReplayOf(const std::string& path, std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      "--module=" + TestData("models/simple_mul.cpu.vmfb"),
      "--device=local-sync", "--replay=" + path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProcess("takt-run-module", arguments);
}

TEST(ReplayTest, ResultsAreTheSameBitForBit) {
  const std::string path = Captured();
  const ToolResult text = ReplayOf(path, {});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("simple_mul"));
  EXPECT_THAT(text.out, HasSubstr("  equal\n"));
  const ToolResult result = ReplayOf(path, {"--json"});
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_GE(json["jobs"].size(), 3u);
  for (const auto& job : json["jobs"]) {
    EXPECT_EQ(job["is_compared"], true);
    EXPECT_EQ(job["difference"], "");
    EXPECT_GT(job["captured_us"], 0);
  }
}

TEST(ReplayTest, ADifferenceIsNamed) {
  const std::string path = Captured();
  std::string bytes = FileContents(path);
  bytes.back() ^= 1;  // The last byte of the last result.
  WriteContents(path, bytes);
  const ToolResult result = ReplayOf(path, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("result 0 differs from byte 15 on"));
  EXPECT_THAT(result.out, Not(HasSubstr("state of its own")));
}

TEST(ReplayTest, AFunctionWithStateIsTheReasonForADifference) {
  const std::string path = Captured("tools/counting.vmfb", "next");
  std::string bytes = FileContents(path);
  bytes.back() ^= 1;  // As if calls had come before the captured ones.
  WriteContents(path, bytes);
  const std::vector<std::string> arguments = {
      "--module=" + TestData("tools/counting.vmfb"), "--device=local-sync",
      "--replay=" + path};
  const ToolResult text = RunProcess("takt-run-module", arguments);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("the function has state of its own"));
  std::vector<std::string> with_json = arguments;
  with_json.push_back("--json");
  const ToolResult json = RunProcess("takt-run-module", with_json);
  EXPECT_EQ(nlohmann::json::parse(json.out)["has_state"], true);
  const ToolResult stateless = ReplayOf(Captured(), {"--json"});
  EXPECT_EQ(nlohmann::json::parse(stateless.out)["has_state"], false);
}

TEST(ReplayTest, InputsThatDoNotFitAreAnError) {
  const std::string path = Captured();
  const ToolResult result = RunProcess(
      "takt-run-module",
      {"--module=" + TestData("tools/vm_loops.vmfb"), "--function=scalar",
       "--device=local-sync", "--replay=" + path});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("its inputs are not there"));
}

TEST(ReplayTest, AFileThatIsNoCaptureIsNamed) {
  const ToolResult result =
      ReplayOf(TestData("models/simple_mul.cpu.vmfb"), {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("simple_mul.cpu.vmfb: no capture"));
}

}  // namespace
}  // namespace takt::tools
