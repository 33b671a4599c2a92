#include "action_slot.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace takt_ros2 {
namespace {

constexpr int64_t kMs = 1'000'000;

// Two numbers a step, three steps of 5 ms, a heartbeat of 30 ms.
ActionSlot MakeSlot() {
  return ActionSlot({.action_count = 2,
                     .chunk_length = 3,
                     .step_ns = 5 * kMs,
                     .heartbeat_ns = 30 * kMs,
                     .safe_action = {-1, -2}});
}

void Put(ActionSlot& slot, int64_t origin_ns, int64_t arrival_ns) {
  const float chunk[] = {0, 1, 10, 11, 20, 21};
  std::ranges::copy(chunk, slot.next_chunk().begin());
  slot.Commit(origin_ns, arrival_ns);
}

TEST(ActionSlotTest, IsSafeBeforeTheFirstResult) {
  ActionSlot slot = MakeSlot();
  float action[2];
  EXPECT_EQ(slot.Read(0, action), ActionSource::kSafe);
  EXPECT_EQ(action[0], -1);
  EXPECT_EQ(action[1], -2);
  EXPECT_EQ(slot.age_ns(5), -1);
  EXPECT_EQ(slot.safe_count(), 1u);
}

TEST(ActionSlotTest, GoesThroughTheStepsOfAChunk) {
  ActionSlot slot = MakeSlot();
  Put(slot, 100 * kMs, 101 * kMs);
  float action[2];
  for (const auto& [now_ms, expected] :
       {std::pair{101, 0}, {104, 0}, {105, 10}, {109, 10}, {110, 20}}) {
    EXPECT_EQ(slot.Read(now_ms * kMs, action), ActionSource::kChunk);
    EXPECT_EQ(action[0], expected) << now_ms;
    EXPECT_EQ(action[1], expected + 1) << now_ms;
  }
}

// The observation is of 100 ms, the result came at 112 ms: its first two steps
// are over.
TEST(ActionSlotTest, SkipsTheStepsThatPassedWhileThePolicyRan) {
  ActionSlot slot = MakeSlot();
  Put(slot, 100 * kMs, 112 * kMs);
  float action[2];
  EXPECT_EQ(slot.Read(112 * kMs, action), ActionSource::kChunk);
  EXPECT_EQ(action[0], 20);
}

TEST(ActionSlotTest, HoldsTheLastStepUntilTheHeartbeatIsMissed) {
  ActionSlot slot = MakeSlot();
  Put(slot, 100 * kMs, 101 * kMs);
  float action[2];
  EXPECT_EQ(slot.Read(115 * kMs, action), ActionSource::kHeld);
  EXPECT_EQ(action[0], 20);
  EXPECT_EQ(slot.Read(131 * kMs, action), ActionSource::kHeld);
  EXPECT_EQ(slot.Read(131 * kMs + 1, action), ActionSource::kSafe);
  EXPECT_EQ(action[0], -1);
  EXPECT_EQ(slot.held_count(), 2u);
  Put(slot, 140 * kMs, 141 * kMs);
  EXPECT_EQ(slot.Read(141 * kMs, action), ActionSource::kChunk);
}

TEST(ActionSlotTest, TakesTheFirstStepOfAChunkForALaterStep) {
  ActionSlot slot = MakeSlot();
  Put(slot, 100 * kMs, 99 * kMs);
  float action[2];
  EXPECT_EQ(slot.Read(99 * kMs, action), ActionSource::kChunk);
  EXPECT_EQ(action[0], 0);
}

TEST(ActionSlotTest, IsSafeWithZerosIfNothingElseIsSaid) {
  ActionSlot slot({.action_count = 2, .step_ns = 1, .heartbeat_ns = 1});
  float action[2] = {7, 7};
  EXPECT_EQ(slot.Read(0, action), ActionSource::kSafe);
  EXPECT_EQ(action[0], 0);
  EXPECT_EQ(action[1], 0);
}

}  // namespace
}  // namespace takt_ros2
