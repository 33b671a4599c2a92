// Modules on NPUs, by the tool: what it prints is what the oracle printed of
// the same module on a CPU, byte for byte.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Profile(const std::string& name) {
  return TAKT_SOURCE_DIR "/samples/npu/" + name;
}

class NpuTest : public testing::TestWithParam<const char*> {
 protected:
  std::string device() const {
    const std::string name = GetParam();
    return name.ends_with(".json") ? "--device=npu-sim=" + Profile(name)
                                   : "--device=" + name;
  }
};

TEST_P(NpuTest, AQuantizedNetworkGivesWhatThePeersCpuGives) {
  const ToolResult result =
      RunProcess("takt-run-module",
                 {"--module=" + TestData("npu/quantized.vmfb"),
                  "--device=local-task", device(), "--function=run",
                  "--input=32x64xi8=@" + TestData("npu/quantized.bin")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, FileContents(TestData("npu/quantized.run0.expected")));
}

TEST_P(NpuTest, RouteAAndItsAlternativeGiveWhatTheCpuGives) {
  for (const char* name : {"npu/route_a.vmfb", "npu/route_a_or_cpu.vmfb"}) {
    const ToolResult result = RunProcess(
        "takt-run-module", {"--module=" + TestData(name), "--device=local-task",
                            device(), "--function=run", "--input=32x64xi8=1",
                            "--input=64x48xi8=3", "--input=32x48xi32=5"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out,
              FileContents(TestData("npu/route_a_or_cpu.run0.expected")));
  }
}

TEST_P(NpuTest, AloneItRunsNativeCodeThatImportsFromTheDriver) {
  const ToolResult result =
      RunProcess("takt-run-module",
                 {"--module=" + TestData("npu/route_c.vmfb"), device(),
                  "--function=run", "--input=32x64xi8=2", "--input=64x48xi8=3",
                  "--input=32x48xi32=5", "--expected_output=32x48xi32=389"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[SUCCESS]"));
}

TEST(NpuStatisticsTest, ReportsTheWorkAndTheFailuresOfTheNpu) {
  const ToolResult result = RunProcess(
      "takt-run-module",
      {"--module=" + TestData("npu/route_a.vmfb"), "--device=local-task",
       "--device=npu-sim", "--function=run", "--input=32x64xi8=1",
       "--input=64x48xi8=3", "--input=32x48xi32=5", "--print_statistics"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Device: local-npu-sim\n"));
  EXPECT_THAT(result.err, HasSubstr(" operations / 98304 multiply-adds / "));
  EXPECT_THAT(result.err,
              HasSubstr("  NPU faults: 0 (0 failed, 0 corrupted, "));
  EXPECT_THAT(result.err, Not(HasSubstr("is for the NPU")));
}

INSTANTIATE_TEST_SUITE_P(Devices, NpuTest,
                         testing::Values("npu-host", "npu-host-sync", "npu-sim",
                                         "k1_cluster.json", "rk3588_npu.json"));

// The suite on `arguments`; every check must hold.
void ExpectConformance(const std::vector<std::string>& arguments) {
  const ToolResult result = RunProcess("takt-npu-conformance", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("ok    products are right"));
}

TEST(NpuConformanceTest, TheBuiltInDriversConform) {
  ExpectConformance({"host"});
  ExpectConformance({"sim"});
  ExpectConformance({"sim", "--seed=5", "--options={\"memory\": \"own\"}"});
  for (const char* name : {"k1_cluster.json", "rk3588_npu.json"}) {
    ExpectConformance({"sim", "--options=" + FileContents(Profile(name))});
  }
}

TEST(NpuConformanceTest, TheExampleDriverConforms) {
  ExpectConformance({TAKT_EXAMPLE_DRIVER});
}

TEST(NpuConformanceTest, FindsADriverInTheFolder) {
  const std::filesystem::path driver = TAKT_EXAMPLE_DRIVER;
  const ToolResult result = RunProcess(
      "takt-npu-conformance", {driver.filename()}, driver.parent_path());
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
}

TEST(NpuConformanceTest, PrintsJson) {
  const ToolResult result =
      RunProcess("takt-npu-conformance", {"sim", "--json",
                                          "--options={\"computes\": "
                                          "false}"});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out;
  EXPECT_GT(json["failed"], 0);
  EXPECT_GT(json["passed"], 0);
  EXPECT_EQ(json["checks"].size(),
            json["passed"].get<size_t>() + json["failed"].get<size_t>());
}

TEST(NpuConformanceTest, FindsTheFaultsOfADriver) {
  ToolResult result = RunProcess("takt-npu-conformance",
                                 {"sim", "--options={\"computes\": false}"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("FAIL  products are right"));
  result = RunProcess("takt-npu-conformance",
                      {"sim", "--options={\"faults\": {\"twice\": 1}}"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("completed twice"));
  result =
      RunProcess("takt-npu-conformance", {"sim",
                                          "--options={\"memory\": \"own\", "
                                          "\"faults\": {\"bit_flip\": 1}}"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("FAIL  transfers are right"));
  result = RunProcess("takt-npu-conformance", {"libm.so.6"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("exports no takt_npu_driver_query"));
}

// The vendor's driver gets its own bytes as they are.
TEST(NpuVendorTest, RunsAProgramOfTheVendorsOwnForm) {
  const ToolResult result =
      RunProcess("takt-run-module",
                 {"--module=" + TestData("npu/route_be.vendor.vmfb"),
                  "--device=local-task",
                  std::string("--device=npu=") + TAKT_EXAMPLE_DRIVER,
                  "--function=run", "--input=32x64xi8=2", "--input=64x48xi8=3",
                  "--input=32x48xi32=5", "--expected_output=32x48xi32=389"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[SUCCESS]"));
}

TEST(NpuFlagTest, SaysWhatThereIs) {
  const ToolResult result =
      RunProcess("takt-run-module", {"--module=" + TestData("npu/gemm.vmfb"),
                                     "--device=npu-quantum", "--function=i8"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("npu-sim[=PROFILE.json]"));
}

}  // namespace
}  // namespace takt::tools
