#include "runtime/blocking_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/exceptions.h"
#include "hal/deferred.h"
#include "tests/support/allocation_faults.h"

namespace takt::runtime {
namespace {

Ref<exec::Executor> MakeExecutor(uint32_t worker_count) {
  exec::Executor::Options options;
  options.worker_count = worker_count;
  return *exec::Executor::Create(options);
}

// Without an executor, and with ones of 0 and 2 workers.
class BlockingWaitTest : public ::testing::TestWithParam<int> {
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

TEST_P(BlockingWaitTest, ReturnsWhenNotifiedBefore) {
  BlockingWait wait(executor());
  wait.Notify();
  EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(BlockingWaitTest, ReturnsWhenNotifiedByAnotherThread) {
  BlockingWait wait(executor());
  for (int i = 0; i < 10; ++i) {
    std::thread other([&] { wait.Notify(); });
    EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
    other.join();
  }
}

TEST_P(BlockingWaitTest, GivesUpAtTheDeadline) {
  BlockingWait wait(executor());
  EXPECT_FALSE(wait.WaitUntilNotified(NowNs()));
  wait.Notify();
  EXPECT_TRUE(wait.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(BlockingWaitTest, WaitsForFences) {
  auto fence = hal::Fence::Create();
  BlockingWait wait(executor());
  EXPECT_EQ(WaitForFence(*fence, wait, NowNs()).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(WaitForFence(*fence, wait, NowNs() + 1000).code(),
            absl::StatusCode::kDeadlineExceeded);
  std::thread other([&] { ASSERT_TRUE(fence->Signal().ok()); });
  EXPECT_TRUE(WaitForFence(*fence, wait, kInfiniteFuture).ok());
  other.join();
  EXPECT_TRUE(WaitForFence(*fence, wait, 0).ok());
}

// A job that signals the fence, as the end of a dispatch does.
struct SignallingJob final : exec::Closure {
  explicit SignallingJob(const hal::Fence& fence_in)
      : Closure([](exec::Closure* closure, exec::Worker&) {
          auto* self = static_cast<SignallingJob*>(closure);
          EXPECT_TRUE(self->fence.Signal().ok());
          self->is_over.store(true, std::memory_order_release);
        }),
        fence(fence_in) {}
  const hal::Fence& fence;
  std::atomic<bool> is_over{false};
};

// A callback of a stream is called so, and may call another device.
struct DeferredCall : hal::Deferred {
  explicit DeferredCall(std::function<void()> function)
      : call(std::move(function)) {
    run = [](Deferred* self) { static_cast<DeferredCall*>(self)->call(); };
  }
  std::function<void()> call;
};

TEST(DeferredWaitTest, TheThreadMayReachTheFenceItself) {
  for (const uint32_t workers : {0u, 2u}) {
    const Ref<exec::Executor> executor = MakeExecutor(workers);
    auto fence = hal::Fence::Create();
    SignallingJob job(*fence);
    absl::Status status;
    DeferredCall call([&] {
      BlockingWait wait(executor.get());
      executor->Submit(&job);
      status = WaitForFence(*fence, wait, NowNs() + 10'000'000'000);
    });
    hal::RunOrDefer(&call);
    EXPECT_TRUE(status.ok()) << status;
    while (!job.is_over.load(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
    executor->Shutdown();
  }
}

TEST_P(BlockingWaitTest, GivesTheErrorOfAFenceThatFails) {
  auto fence = hal::Fence::Create();
  BlockingWait wait(executor());
  std::thread other([&] { fence->Fail(absl::DataLossError("torn")); });
  const absl::Status status = WaitForFence(*fence, wait, kInfiniteFuture);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  other.join();
}

TEST_P(BlockingWaitTest, AFenceThatNothingCanSignalEndsTheWaitForIt) {
  BlockingWait wait(executor());
  EXPECT_EQ(WaitForSignal(hal::Fence::Create(), wait).code(),
            absl::StatusCode::kAborted);
  // With another reference it may still be signalled.
  auto fence = hal::Fence::Create();
  std::thread other([held = fence]() mutable {
    ASSERT_TRUE(held->Signal().ok());
    held.reset();
  });
  EXPECT_TRUE(WaitForSignal(std::move(fence), wait).ok());
  other.join();
}

TEST_P(BlockingWaitTest, WaitsForAllOfSeveralFences) {
  auto a = hal::Fence::Create(), b = hal::Fence::Create();
  const std::vector<hal::Fence*> fences = {a.get(), nullptr, b.get()};
  BlockingWait wait(executor());
  size_t index = 99;
  std::thread other([&] {
    ASSERT_TRUE(b->Signal().ok());
    ASSERT_TRUE(a->Signal().ok());
  });
  EXPECT_TRUE(WaitForAll(fences, wait, kInfiniteFuture, &index).ok());
  other.join();
  EXPECT_EQ(index, 99u);
}

TEST_P(BlockingWaitTest, AFailureEndsTheWaitForAll) {
  auto a = hal::Fence::Create(), b = hal::Fence::Create();
  const std::vector<hal::Fence*> fences = {a.get(), b.get()};
  BlockingWait wait(executor());
  size_t index = 99;
  std::thread other([&] { b->Fail(absl::DataLossError("torn")); });
  EXPECT_EQ(WaitForAll(fences, wait, kInfiniteFuture, &index),
            absl::DataLossError("torn"));
  other.join();
  EXPECT_EQ(index, 1u);
}

TEST_P(BlockingWaitTest, WaitsForAnyOfSeveralFences) {
  for (size_t round = 0; round < 30; ++round) {
    std::vector<Ref<hal::Fence>> owners;
    std::vector<hal::Fence*> fences;
    for (int i = 0; i < 3; ++i) {
      owners.push_back(hal::Fence::Create());
      fences.push_back(owners.back().get());
    }
    BlockingWait wait(executor());
    size_t index = 99;
    EXPECT_EQ(WaitForAny(fences, wait, NowNs() + 1000, &index).code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(index, 99u);
    std::thread other([&] {
      if (round % 2 == 0) {
        ASSERT_TRUE(fences[round % 3]->Signal().ok());
      } else {
        fences[round % 3]->Fail(absl::DataLossError("torn"));
      }
    });
    EXPECT_EQ(
        WaitForAny(fences, wait, kInfiniteFuture, &index).code(),
        round % 2 == 0 ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss);
    EXPECT_EQ(index, round % 3);
    other.join();
  }
}

TEST_P(BlockingWaitTest, SeveralFencesMayDecideAtOnce) {
  // Signals from two threads race with each other and with the waits' start;
  // whichever decides, the other one's notification finds what it needs.
  for (int round = 0; round < 100; ++round) {
    auto a = hal::Fence::Create(), b = hal::Fence::Create();
    std::thread one([a] { ASSERT_TRUE(a->Signal().ok()); });
    std::thread other([b] { ASSERT_TRUE(b->Signal().ok()); });
    size_t index = 99;
    {
      BlockingWait wait(executor());
      const std::vector<hal::Fence*> fences = {a.get(), b.get()};
      EXPECT_TRUE(WaitForAny(fences, wait, kInfiniteFuture, &index).ok());
    }
    EXPECT_LT(index, 2u);
    one.join();
    other.join();
  }
}

TEST_P(BlockingWaitTest, WithoutMemoryNoFenceIsWaitedForAnyLonger) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    auto plain = hal::Fence::Create();
    auto barrier = *hal::Fence::CreateBarrier(3);
    absl::Status status = OutOfMemory();
    {
      BlockingWait wait(executor());
      const std::vector<hal::Fence*> fences = {plain.get(), barrier.get()};
      size_t index = 99;
      const AllocationFault armed(fault);
      try {
        status = WaitForAny(fences, wait, NowNs() + 1000, &index);
      } catch (const std::bad_alloc&) {
      }
      is_hit = AllocationFault::is_hit();
    }
    // A thread that waits may do without what it has not found.
    EXPECT_TRUE(absl::IsDeadlineExceeded(status) ||
                (is_hit && absl::IsResourceExhausted(status)))
        << status;
    // No waiter is left that would notify a thread that has gone on.
    EXPECT_TRUE(plain->Signal().ok());
    barrier->Fail(absl::AbortedError("no"));
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, BlockingWaitTest,
                         ::testing::Values(-1, 0, 2));

}  // namespace
}  // namespace takt::runtime
