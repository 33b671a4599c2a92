#include "api/sync_wait.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"

namespace takt::api {
namespace {

Ref<exec::Executor> MakeExecutor(uint32_t worker_count) {
  exec::Executor::Options options;
  options.worker_count = worker_count;
  return *exec::Executor::Create(options);
}

// Without an executor, and with ones of 0 and 2 workers.
class SyncWaitTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() >= 0) executor_ = MakeExecutor(GetParam());
  }
  void TearDown() override {
    if (executor_ != nullptr) executor_->Shutdown();
  }
  exec::Executor* executor() { return executor_.get(); }

 private:
  Ref<exec::Executor> executor_;
};

TEST_P(SyncWaitTest, ReturnsWhenNotifiedBefore) {
  SyncWait wait(executor());
  wait.Notify();
  EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(SyncWaitTest, ReturnsWhenNotifiedByAnotherThread) {
  SyncWait wait(executor());
  for (int i = 0; i < 10; ++i) {
    std::thread other([&] { wait.Notify(); });
    EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
    other.join();
  }
}

TEST_P(SyncWaitTest, GivesUpAtTheDeadline) {
  SyncWait wait(executor());
  EXPECT_FALSE(wait.WaitUntilNotified(NowNs()));
  wait.Notify();
  EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(SyncWaitTest, WaitsForFences) {
  auto fence = hal::Fence::Create();
  SyncWait wait(executor());
  EXPECT_EQ(WaitForFence(*fence, wait, NowNs()).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(WaitForFence(*fence, wait, NowNs() + 1000).code(),
            absl::StatusCode::kDeadlineExceeded);
  std::thread other([&] { ASSERT_TRUE(fence->Signal().ok()); });
  EXPECT_TRUE(WaitForFence(*fence, wait, kInfiniteFuture).ok());
  other.join();
  EXPECT_TRUE(WaitForFence(*fence, wait, 0).ok());
}

TEST_P(SyncWaitTest, GivesTheErrorOfAFenceThatFails) {
  auto fence = hal::Fence::Create();
  SyncWait wait(executor());
  std::thread other([&] { fence->Fail(absl::DataLossError("torn")); });
  const absl::Status status = WaitForFence(*fence, wait, kInfiniteFuture);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Workers, SyncWaitTest, ::testing::Values(-1, 0, 2));

}  // namespace
}  // namespace takt::api
