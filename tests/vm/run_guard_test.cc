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

}  // namespace
}  // namespace takt::vm
