#include "base/cancellation.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

void Count(void* argument) { ++*static_cast<int*>(argument); }

TEST(CancellationTest, WorkBeginsUntilItIsRequested) {
  const auto cancellation = MakeRef<Cancellation>();
  EXPECT_FALSE(cancellation->is_requested());
  EXPECT_TRUE(cancellation->BeginWork());
  cancellation->EndWork();
  cancellation->Request();
  EXPECT_TRUE(cancellation->is_requested());
  EXPECT_FALSE(cancellation->BeginWork());
  EXPECT_EQ(Cancellation::Error().code(), absl::StatusCode::kCancelled);
}

TEST(CancellationTest, TheLastWorkReportsThatItHasEnded) {
  const auto cancellation = MakeRef<Cancellation>();
  int told = 0;
  ASSERT_TRUE(cancellation->BeginWork());
  ASSERT_TRUE(cancellation->BeginWork());
  cancellation->Request();
  EXPECT_FALSE(cancellation->IsIdle(&Count, &told));
  cancellation->EndWork();
  EXPECT_EQ(told, 0);
  cancellation->EndWork();
  EXPECT_EQ(told, 1);
}

TEST(CancellationTest, IsIdleAtOnceWithoutWork) {
  const auto cancellation = MakeRef<Cancellation>();
  ASSERT_TRUE(cancellation->BeginWork());
  cancellation->EndWork();
  cancellation->Request();
  int told = 0;
  EXPECT_TRUE(cancellation->IsIdle(&Count, &told));
  EXPECT_EQ(told, 0);
}

TEST(CancellationTest, StepsAreTakenUntilNoneAreLeft) {
  const auto limited =
      MakeRef<Cancellation>(Cancellation::Scope::kKernels, 100);
  EXPECT_FALSE(limited->stops_all_work());
  EXPECT_TRUE(limited->TakeSteps(60));
  EXPECT_FALSE(limited->TakeSteps(41));
  EXPECT_TRUE(limited->TakeSteps(40));
  limited->GiveBackSteps(5);
  EXPECT_TRUE(limited->TakeSteps(5));
  EXPECT_FALSE(limited->TakeSteps(1));
  const auto unlimited = MakeRef<Cancellation>();
  EXPECT_TRUE(unlimited->stops_all_work());
  EXPECT_TRUE(unlimited->TakeSteps(UINT64_MAX));
  EXPECT_TRUE(unlimited->TakeSteps(UINT64_MAX));
}

}  // namespace
}  // namespace takt
