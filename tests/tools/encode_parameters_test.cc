// The cycle of parameters that are encoded ahead of time: the encoder writes
// an archive, and the module that takes it returns what the module with the
// original parameters returns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

const std::string kWeights =
    "--parameters=model=" + TestData("parameters/ramp.safetensors");
const std::string kEncoder =
    "--module=" + TestData("parameters/encode_encoder.vmfb");

class EncodeParametersTest : public testing::TestWithParam<const char*> {
 protected:
  ToolResult Encode(std::vector<std::string> arguments) {
    arguments.push_back(std::string("--device=") + GetParam());
    return RunProcess("takt-encode-parameters", arguments);
  }
  // What the run of the source's own comment has as its input.
  static std::string Input() {
    std::ifstream file(TestData("parameters/encode.mlir"));
    std::string line;
    while (std::getline(file, line)) {
      if (line.starts_with("// Run: ")) return line.substr(line.find("--inp"));
    }
    ADD_FAILURE() << "encode.mlir has no run";
    return "";
  }

  const std::string archive_ = ScratchPath("encoded.irpa");
};

TEST_P(EncodeParametersTest, TheEncodedArchiveGivesTheSameResults) {
  const ToolResult encoded =
      Encode({kEncoder, kWeights, "--output=encoded=" + archive_});
  ASSERT_EQ(encoded.exit_code, 0) << encoded.err;
  EXPECT_THAT(encoded.out, HasSubstr("scope 'encoded': 1 parameters, 83"));
  EXPECT_FALSE(std::filesystem::exists(archive_ + ".part"));
  const ToolResult run =
      RunProcess("takt-run-module",
                 {"--module=" + TestData("parameters/encode.encoded.vmfb"),
                  "--parameters=encoded=" + archive_, Input(),
                  std::string("--device=") + GetParam()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, FileContents(TestData("parameters/encode.run0.expected")));
  std::remove(archive_.c_str());
}

TEST_P(EncodeParametersTest, AnOutputWithoutScopeIsForAll) {
  const ToolResult encoded =
      Encode({kEncoder, kWeights, "--output=" + archive_, "--target=all"});
  EXPECT_EQ(encoded.exit_code, 0) << encoded.err;
  EXPECT_GT(std::filesystem::file_size(archive_), 8000u);
  std::remove(archive_.c_str());
}

TEST_P(EncodeParametersTest, ALinkStaysAndItsFileKeepsItsMode) {
  const std::string target = ScratchPath("target.irpa");
  WriteContents(target, "old");
  std::filesystem::permissions(target, std::filesystem::perms::owner_read |
                                           std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(target, archive_);
  const ToolResult encoded =
      Encode({kEncoder, kWeights, "--output=" + archive_});
  EXPECT_EQ(encoded.exit_code, 0) << encoded.err;
  EXPECT_TRUE(std::filesystem::is_symlink(archive_));
  EXPECT_GT(std::filesystem::file_size(target), 8000u);
  EXPECT_EQ(
      std::filesystem::status(target).permissions(),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove(archive_);
  const ToolResult folder = Encode(
      {kEncoder, kWeights,
       "--output=" + std::filesystem::path(target).parent_path().string()});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, HasSubstr("no regular file"));
}

TEST_P(EncodeParametersTest, AFailureLeavesNoFile) {
  const ToolResult result = Encode({kEncoder, "--output=" + archive_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("model"));  // The scope that is missing.
  EXPECT_FALSE(std::filesystem::exists(archive_));
  EXPECT_FALSE(std::filesystem::exists(archive_ + ".part"));
}

TEST_P(EncodeParametersTest, ReportsTheMissingParts) {
  EXPECT_THAT(Encode({kEncoder, kWeights}).err, HasSubstr("--output"));
  EXPECT_THAT(Encode({kEncoder, kWeights, "--output=other=" + archive_}).err,
              HasSubstr("no --output=encoded=FILE"));
  for (const char* more : {"--output=other=x.irpa", "--output=encoded=x.irpa",
                           "--output=x.irpa"}) {
    const ToolResult result =
        Encode({kEncoder, kWeights, "--output=encoded=" + archive_, more});
    EXPECT_EQ(result.exit_code, 1) << more;
    EXPECT_THAT(result.err, HasSubstr(std::string(more) +
                                      ": nothing is written to it; the scopes "
                                      "are encoded"));
    EXPECT_FALSE(std::filesystem::exists(archive_));
  }
  EXPECT_THAT(Encode({"--module=" + TestData("models/add.cpu.vmfb"),
                      "--output=" + archive_})
                  .err,
              HasSubstr("it is no encoder"));
  EXPECT_THAT(
      Encode({kEncoder, kWeights, "--output=" + archive_, "--target=vax"}).err,
      HasSubstr("'vax'"));
  EXPECT_THAT(Encode({kEncoder, kWeights, "--output=/nonexistent/x.irpa"}).err,
              HasSubstr("/nonexistent/x.irpa"));
  EXPECT_FALSE(std::filesystem::exists(archive_));
}

INSTANTIATE_TEST_SUITE_P(Devices, EncodeParametersTest,
                         testing::Values("local-sync", "local-task"),
                         [](const auto& parameter) {
                           return std::string(parameter.param) == "local-sync"
                                      ? "Sync"
                                      : "Task";
                         });

}  // namespace
}  // namespace takt::tools
