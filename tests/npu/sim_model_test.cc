// The model's times and temperatures, against the same worked out by hand.
#include "npu/sim_model.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

SimProfile Parse(const char* json) {
  auto profile = SimProfile::Parse(json);
  EXPECT_TRUE(profile.ok()) << profile.status();
  return profile.ok() ? *profile : SimProfile();
}

// 64 x 512 x 512 bytes.
takt_npu_operation_t ModelledProduct() {
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = TAKT_NPU_KIND_MMT4D;
  takt_npu_mmt4d_t& p = operation.mmt4d;
  p.type = TAKT_NPU_TYPE_S8_S8_S32;
  p.m = 8, p.n = 64, p.k = 128, p.m0 = 8, p.n0 = 8, p.k0 = 4;
  p.left.byte_length = 64 * 512;
  p.right.byte_length = 512 * 512;
  p.out.byte_length = 64 * 512 * 4;
  return operation;
}

TEST(SimModelTest, ComputesOrMovesWhicheverTakesLonger) {
  const SimProfile profile = Parse(R"({"launch_ns": 1000,
      "macs_per_cycle": {"s8": 1024}, "frequencies_hz": [1e9],
      "dma_bytes_per_s": 1e10, "scratchpad_bytes": 1048576})");
  SimModel model(profile);
  const SimModel::Cost cost = model.CostOf(ModelledProduct());
  EXPECT_EQ(cost.cycles, 16384);
  // 32768 + 262144 + 131072 bytes at 10 a ns.
  EXPECT_NEAR(cost.dma_ns, 42598.4, 0.1);
  EXPECT_NEAR(cost.first_dma_ns, 29491.2, 0.1);
  // Computing takes 16.4 us once the first operands are there, moving 42.6 us.
  EXPECT_EQ(model.Start({&cost, 1}, 0).duration_ns, 1000 + 45875);
  SimProfile serial = profile;
  serial.dma_overlaps = false;
  SimModel other(serial);
  EXPECT_EQ(other.Start({&cost, 1}, 0).duration_ns, 1000 + 16384 + 42598);
}

TEST(SimModelTest, FetchesAgainWhatDoesNotFitTheScratchpad) {
  const SimProfile small = Parse(R"({"macs_per_cycle": {"s8": 1},
      "dma_bytes_per_s": 1e9, "scratchpad_bytes": 16384})");
  SimModel model(small);
  // The left operand comes in four parts of 8 KiB; the right one four times.
  EXPECT_NEAR(model.CostOf(ModelledProduct()).dma_ns,
              32768 + 4 * 262144 + 131072, 1);
}

TEST(SimModelTest, HeatLowersTheFrequencyAndCoolingRaisesIt) {
  const SimProfile profile = Parse(R"({"launch_ns": 0,
      "macs_per_cycle": {"s8": 1}, "dma_bytes_per_s": 1e15,
      "frequencies_hz": [5e8, 1e9],
      "heat": {"ambient_celsius": 40, "rise_celsius": 60,
               "time_constant_s": 0.01, "throttle_celsius": 80,
               "recover_celsius": 60, "critical_celsius": 120}})");
  SimModel model(profile);
  const SimModel::Cost cost = model.CostOf(ModelledProduct());
  int64_t now_ns = 0;
  const int64_t fast_ns = model.Start({&cost, 1}, now_ns).duration_ns;
  EXPECT_NEAR(static_cast<double>(fast_ns), 16'777'216, 1e3);
  now_ns += fast_ns;
  // 40 + 60 (1 - e^-1.68)
  EXPECT_NEAR(model.temperature_celsius(now_ns), 88.8, 0.2);
  const int64_t slow_ns = model.Start({&cost, 1}, now_ns).duration_ns;
  EXPECT_NEAR(static_cast<double>(slow_ns), 2.0 * 16'777'216, 1e3);
  EXPECT_EQ(model.frequency_hz(), 5e8);
  EXPECT_GT(model.throttled_ns(), 16'000'000);
  now_ns += slow_ns + 1'000'000'000;
  EXPECT_NEAR(model.temperature_celsius(now_ns), 40, 0.01);
  EXPECT_EQ(model.Start({&cost, 1}, now_ns).duration_ns, fast_ns);
}

TEST(SimModelTest, StopsWhenItIsTooHot) {
  const SimProfile profile = Parse(R"({"macs_per_cycle": {"s8": 1},
      "heat": {"ambient_celsius": 40, "rise_celsius": 100,
               "time_constant_s": 0.001, "critical_celsius": 100}})");
  SimModel model(profile);
  const SimModel::Cost cost = model.CostOf(ModelledProduct());
  const SimModel::Run first = model.Start({&cost, 1}, 0);
  EXPECT_FALSE(first.is_critical);
  EXPECT_TRUE(model.Start({&cost, 1}, first.duration_ns).is_critical);
}

TEST(SimProfileTest, RefusesDeepNesting) {
  const size_t depth = 1'000'000;
  const absl::Status status =
      SimProfile::Parse("{\"launch_ns\": " + std::string(depth, '[') +
                        std::string(depth, ']') + "}")
          .status();
  EXPECT_EQ(status.message(), "NPU profile: document: nested too deep");
}

TEST(SimProfileTest, SaysWhatIsWrong) {
  const struct {
    const char* json;
    const char* message;
  } cases[] = {
      {"{", "not JSON"},
      {"[]", "expected an object"},
      {R"({"lunch_ns": 1})", "unknown member \"lunch_ns\""},
      {R"({"launch_ns": -1})", "root.launch_ns: expected a number from 0"},
      {R"({"launch_ns": "x"})", "root.launch_ns"},
      {R"({"memory": "none"})", "expected \"host\" or \"own\""},
      {R"({"frequencies_hz": []})", "expected one or more, ascending"},
      {R"({"frequencies_hz": [2, 1]})", "ascending"},
      {R"({"macs_per_cycle": {"i9": 1}})", "unknown member \"i9\""},
      {R"({"tile_max": [1, 2]})", "expected three numbers"},
      {R"({"cpus": [256]})", "root.cpus"},
      {R"({"computes": 1})", "expected true or false"},
      {R"({"faults": {"error": 2}})", "faults.error"},
      {R"({"heat": {"throttle_celsius": 50, "recover_celsius": 60}})",
       "above throttle_celsius"},
  };
  for (const auto& each : cases) {
    const absl::Status status = SimProfile::Parse(each.json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << each.json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
}

}  // namespace
}  // namespace takt::npu
