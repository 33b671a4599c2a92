#include "policy.h"

#include <gtest/gtest.h>

#include <thread>

namespace takt_ros2 {
namespace {

constexpr int64_t kMs = 1'000'000;

// 1x64xf32 -> 1x12xf32, here three steps of four numbers.
PolicyOptions Options() {
  return {.module = TAKT_TESTDATA_DIR "/workload/policy.cpu.vmfb",
          .function = "act",
          .period_ns = 5 * kMs,
          .deadline_ns = 1000 * kMs,
          .actions = {.action_count = 4,
                      .chunk_length = 3,
                      .step_ns = 5 * kMs,
                      .heartbeat_ns = 10'000 * kMs}};
}

std::string MessageOf(const PolicyOptions& options) {
  auto policy = Policy::Create(options);
  return policy.ok() ? "" : std::string(policy.status().message());
}

TEST(PolicyTest, ActsOnObservations) {
  PolicyOptions options = Options();
  options.actions.step_ns = 1000 * kMs;  // So that it is the first step.
  auto policy = Policy::Create(options);
  ASSERT_TRUE(policy.ok()) << policy.status().ToString();
  ASSERT_EQ((*policy)->observation_count(), 64u);
  const std::vector<float> observation(64, 0.5f);
  ASSERT_TRUE((*policy)->Observe(observation).ok());
  ASSERT_TRUE((*policy)->Start(takt_clock_now_ns()).ok());
  float action[4] = {};
  ActionSource source = ActionSource::kSafe;
  while (source == ActionSource::kSafe) {
    source = (*policy)->Act(takt_clock_now_ns(), action).value();
    std::this_thread::yield();
  }
  // As in policy.run0.expected.
  const float expected[] = {-0.230279f, 0.274364f, -0.296377f, -0.802162f};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(action[i], expected[i], 1e-4);
  (*policy)->Stop();
  Report report = (*policy)->MakeReport(takt_clock_now_ns());
  // Before the first result it was safe, so the first report is an error.
  EXPECT_EQ(report.level, Level::kError);
  EXPECT_EQ(report.message, "no result: safe action");
  EXPECT_EQ(report.values[0].first, "met");
  EXPECT_NE(report.values[0].second, "0");
  report = (*policy)->MakeReport(takt_clock_now_ns());
  EXPECT_EQ(report.level, Level::kOk);
  EXPECT_EQ(report.message, "on time");
}

TEST(PolicyTest, RefusesObservationsAndActionsOfAnotherSize) {
  auto policy = Policy::Create(Options());
  ASSERT_TRUE(policy.ok()) << policy.status().ToString();
  float few[3] = {};
  EXPECT_EQ((*policy)->Observe(few).message(),
            "observation: expected 64 numbers, got 3");
  EXPECT_EQ((*policy)->Act(0, few).status().message(),
            "action: expected 4 numbers, got 3");
}

TEST(PolicyTest, NamesTheOptionThatDoesNotFit) {
  PolicyOptions options = Options();
  options.period_ns = 0;
  EXPECT_EQ(MessageOf(options), "period_ns: expected above 0");
  options = Options();
  options.actions.heartbeat_ns = 0;
  EXPECT_EQ(MessageOf(options), "heartbeat_ns: expected above 0");
  options = Options();
  options.actions.safe_action = {1};
  EXPECT_EQ(MessageOf(options), "safe_action: expected 4 numbers, got 1");
  options = Options();
  options.actions.chunk_length = 2;
  EXPECT_EQ(MessageOf(options),
            "act: expected a result of 8 f32 (chunk_length times "
            "action_count), got 12");
}

}  // namespace
}  // namespace takt_ros2
