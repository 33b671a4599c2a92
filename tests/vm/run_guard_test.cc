#include "vm/run_guard.h"

#include <gtest/gtest.h>

namespace takt::vm {
namespace {

TEST(RunGuardTest, CountsStepsAndBytes) {
  UniqueBlockPool pool(BlockPool::Create());
  RunGuard guard(*pool);
  EXPECT_FALSE(guard.wants_attention());
  EXPECT_TRUE(guard.Poll());
  EXPECT_TRUE(guard.Charge(UINT64_MAX));
  guard.SetStepLimit(3);
  EXPECT_TRUE(guard.wants_attention());
  EXPECT_TRUE(guard.Charge(63));   // No whole step.
  EXPECT_TRUE(guard.Charge(128));  // Two.
  EXPECT_FALSE(guard.Charge(UINT64_MAX));
  EXPECT_TRUE(guard.Poll());
  EXPECT_FALSE(guard.Poll());
  EXPECT_EQ(guard.error().code(), absl::StatusCode::kResourceExhausted);
  guard.SetStepLimit(0);
  EXPECT_TRUE(guard.Poll());
}

TEST(RunGuardTest, CancellationEndsWhateverTheLimit) {
  UniqueBlockPool pool(BlockPool::Create());
  RunGuard guard(*pool);
  guard.Cancel();
  EXPECT_TRUE(guard.is_cancelled());
  EXPECT_TRUE(guard.wants_attention());
  EXPECT_FALSE(guard.Poll());
  EXPECT_EQ(guard.error().code(), absl::StatusCode::kCancelled);
}

TEST(RunGuardTest, AsksOnceInManyPollsWhetherItIsInterrupted) {
  UniqueBlockPool pool(BlockPool::Create());
  RunGuard guard(*pool);
  EXPECT_FALSE(guard.IsInterrupted());
  int asked = 0;
  guard.SetInterrupter(
      [](void* count) { return ++*static_cast<int*>(count) == 2; }, &asked);
  EXPECT_TRUE(guard.wants_attention());
  EXPECT_TRUE(guard.Poll());
  for (const uint64_t limit : {uint64_t{0}, UINT64_MAX}) {
    guard.SetStepLimit(limit);  // With a limit, each poll is looked at.
    asked = 0;
    for (uint32_t i = 1; i <= 3 * RunGuard::kPollsPerQuestion; ++i) {
      const bool interrupts = !guard.OnlyCounts() && guard.IsInterrupted();
      EXPECT_EQ(interrupts, i == 2 * RunGuard::kPollsPerQuestion);
      EXPECT_EQ(asked, i / RunGuard::kPollsPerQuestion);
    }
  }
}

TEST(RunGuardTest, AKernelTakesItsStepsFromItsCall) {
  UniqueBlockPool pool(BlockPool::Create());
  const auto call = MakeRef<Cancellation>(Cancellation::Scope::kKernels, 1500);
  RunGuard one(*pool);
  RunGuard other(*pool);
  one.SetCancellation(*call);
  other.SetCancellation(*call);
  EXPECT_TRUE(one.wants_attention());
  EXPECT_TRUE(one.Poll());  // Takes some in advance.
  EXPECT_TRUE(other.Charge(64 * 400));
  EXPECT_FALSE(other.Charge(64 * 100));
  EXPECT_EQ(other.error().code(), absl::StatusCode::kResourceExhausted);
  one.ReleaseCancellation();  // All but one step.
  EXPECT_FALSE(one.wants_attention());
  EXPECT_TRUE(other.Charge(64 * 1000));
  call->Request();
  EXPECT_FALSE(other.Charge(64 * 1000));
  EXPECT_EQ(other.error().code(), absl::StatusCode::kCancelled);
  other.ReleaseCancellation();
}

}  // namespace
}  // namespace takt::vm
