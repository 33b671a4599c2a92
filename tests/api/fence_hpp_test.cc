#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <coroutine>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/fence.hpp"

namespace {

class FenceHppTest : public ::testing::Test {
 protected:
  takt::Instance instance_ = takt::Instance::Create().value();
};

TEST_F(FenceHppTest, FencesSignalAndFail) {
  auto fence = takt::Fence::Create().value();
  EXPECT_FALSE(fence.Query().value());
  EXPECT_EQ(fence.Wait(instance_, 0).code(), TAKT_STATUS_DEADLINE_EXCEEDED);
  ASSERT_TRUE(fence.Signal().ok());
  EXPECT_TRUE(fence.Query().value());
  EXPECT_TRUE(fence.Wait(instance_).ok());
  auto failed = takt::Fence::Create().value();
  failed.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_EQ(failed.Query().status().message(), "torn");
}

TEST_F(FenceHppTest, ABarrierWaitsForItsSignallers) {
  auto barrier = takt::Fence::CreateBarrier(2).value();
  EXPECT_TRUE(barrier.Signal().ok());
  EXPECT_FALSE(barrier.Query().value());
  EXPECT_TRUE(barrier.Signal().ok());
  EXPECT_TRUE(barrier.Query().value());
  EXPECT_EQ(barrier.Signal().code(), TAKT_STATUS_FAILED_PRECONDITION);
}

TEST_F(FenceHppTest, AMovedFenceCannotBeSignaled) {
  auto fence = takt::Fence::Create().value();
  const takt::Fence moved = std::move(fence);
  const takt::Status status = fence.Signal();  // NOLINT: moved from.
  EXPECT_EQ(status.code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(status.message(), "fence is NULL");
  EXPECT_FALSE(moved.Query().value());
  EXPECT_TRUE(fence.Wait(instance_).ok());
  fence.Fail(takt::Status(TAKT_STATUS_ABORTED, "no fence"));
  takt::Timeline timeline;
  EXPECT_EQ(timeline.Signal(1).message(), "timeline is NULL");
  EXPECT_FALSE(timeline.Query().ok());
  timeline.Fail(takt::Status(TAKT_STATUS_ABORTED, "no timeline"));
}

TEST_F(FenceHppTest, JoinWaitsForAll) {
  auto a = takt::Fence::Create().value();
  auto b = takt::Fence::Create().value();
  auto joined = takt::Fence::Join({a, takt::Fence(), b}).value();
  EXPECT_TRUE(b.Signal().ok());
  EXPECT_FALSE(joined.Query().value());
  EXPECT_TRUE(a.Signal().ok());
  EXPECT_TRUE(joined.Query().value());
  EXPECT_FALSE(takt::Fence::Join({takt::Fence()}).value());
}

TEST_F(FenceHppTest, FencesOverTimelines) {
  auto a = takt::Timeline::Create().value();
  auto b = takt::Timeline::Create(3).value();
  a.SetName("camera");
  auto fence = takt::Fence::FromPoints({{a, 2}, {b, 3}}).value();
  EXPECT_EQ(fence.Explain(),
            "waits for 1 of 2 points\n"
            "  timeline \"camera\" is at 0 and must reach 2");
  EXPECT_TRUE(a.Signal(2).ok());
  EXPECT_EQ(a.Query().value(), 2u);
  EXPECT_TRUE(fence.Query().value());
  EXPECT_EQ(fence.Explain(), "reached");
  b.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_EQ(b.Query().status().code(), TAKT_STATUS_DATA_LOSS);
}

TEST_F(FenceHppTest, WaitsForSeveral) {
  std::vector<takt::Fence> fences = {takt::Fence::Create().value(),
                                     takt::Fence::Create().value()};
  EXPECT_EQ(takt::Fence::WaitAny(fences, instance_, 0).status().code(),
            TAKT_STATUS_DEADLINE_EXCEEDED);
  EXPECT_TRUE(fences[1].Signal().ok());
  EXPECT_EQ(takt::Fence::WaitAny(fences, instance_).value(), 1u);
  EXPECT_EQ(takt::Fence::WaitAll(fences, instance_, 0).code(),
            TAKT_STATUS_DEADLINE_EXCEEDED);
  EXPECT_TRUE(fences[0].Signal().ok());
  EXPECT_TRUE(takt::Fence::WaitAll(fences, instance_).ok());
}

TEST_F(FenceHppTest, CallbacksGetTheOutcome) {
  auto fence = takt::Fence::Create().value();
  std::string text;
  fence.OnReached([&](takt::Status status) { text = status.ToString(); });
  fence.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_EQ(text, "DATA_LOSS: torn");
}

TEST_F(FenceHppTest, DescriptorsGoBothWays) {
  auto here = takt::Fence::Create().value();
  const int fd = here.ExportFd().value();
  auto there = takt::Fence::ImportFd(instance_, fd).value();
  EXPECT_TRUE(here.Signal().ok());
  EXPECT_TRUE(there.Wait(instance_).ok());
  close(fd);
  EXPECT_EQ(takt::Fence::ImportFd(instance_, -1).status().code(),
            TAKT_STATUS_INVALID_ARGUMENT);
}

TEST_F(FenceHppTest, FuturesGetTheOutcome) {
  auto reached = takt::Fence::Create().value();
  auto failed = takt::Fence::Create().value();
  std::future<takt::Status> ok = reached.ToFuture();
  std::future<takt::Status> error = failed.ToFuture();
  EXPECT_EQ(ok.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  std::thread signaller([&] {
    EXPECT_TRUE(reached.Signal().ok());
    failed.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  });
  EXPECT_TRUE(ok.get().ok());
  EXPECT_EQ(error.get().code(), TAKT_STATUS_DATA_LOSS);
  signaller.join();
  EXPECT_TRUE(takt::Fence().ToFuture().get().ok());
}

// A coroutine that notes where it is.
takt::Task AwaitTwo(takt::Fence first, takt::Fence second, int* step,
                    std::thread::id* thread = nullptr) {
  *step = 1;
  takt::Status status = co_await first;
  if (!status.ok()) co_return status;
  *step = 2;
  status = co_await second;
  if (!status.ok()) co_return status;
  *step = 3;
  if (thread != nullptr) *thread = std::this_thread::get_id();
  co_return takt::Status();
}

TEST_F(FenceHppTest, ACoroutineContinuesOnTheThreadThatSignals) {
  auto first = takt::Fence::Create().value();
  auto second = takt::Fence::Create().value();
  int step = 0;
  std::thread::id thread;
  takt::Task task = AwaitTwo(first, second, &step, &thread);
  EXPECT_EQ(step, 1);
  EXPECT_TRUE(first.Signal().ok());
  EXPECT_EQ(step, 2);
  EXPECT_FALSE(task.fence().Query().value());
  std::thread other([&] { EXPECT_TRUE(second.Signal().ok()); });
  const std::thread::id other_id = other.get_id();
  other.join();
  EXPECT_EQ(step, 3);
  EXPECT_EQ(thread, other_id);
  EXPECT_TRUE(task.fence().Query().value());
}

TEST_F(FenceHppTest, ACoroutineDoesNotStopForAReachedFence) {
  int step = 0;
  takt::Task task = AwaitTwo(takt::Fence(), takt::Fence(), &step);
  EXPECT_EQ(step, 3);
  EXPECT_TRUE(task.fence().Query().value());
}

TEST_F(FenceHppTest, AFailureRunsThroughCoroutines) {
  auto first = takt::Fence::Create().value();
  int step = 0;
  int follower_step = 0;
  takt::Task task = AwaitTwo(first, takt::Fence(), &step);
  takt::Task follower = AwaitTwo(task.fence(), takt::Fence(), &follower_step);
  first.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_EQ(step, 1);
  EXPECT_EQ(follower_step, 1);
  EXPECT_EQ(follower.fence().Query().status().message(), "torn");
}

TEST_F(FenceHppTest, ACoroutineOfAForgottenFenceIsAborted) {
  int step = 0;
  takt::Task task = [](int* at) -> takt::Task {
    auto lost = takt::Fence::Create().value();
    takt::Status status = co_await std::move(lost);
    *at = 1;
    co_return status;
  }(&step);
  EXPECT_EQ(step, 1);
  EXPECT_EQ(task.fence().Query().status().code(), TAKT_STATUS_ABORTED);
}

TEST_F(FenceHppTest, ResumeOnLeavesItToTheExecutor) {
  std::vector<std::coroutine_handle<>> queue;
  auto fence = takt::Fence::Create().value();
  int step = 0;
  takt::Task task = [](takt::Fence waited, takt::Resumer resumer,
                       int* at) -> takt::Task {
    takt::Status status = co_await takt::ResumeOn(waited, resumer);
    *at = 1;
    co_return status;
  }(
                                    fence,
                                    [&](std::coroutine_handle<> handle) {
                                      queue.push_back(handle);
                                    },
                                    &step);
  EXPECT_TRUE(fence.Signal().ok());
  EXPECT_EQ(step, 0);
  ASSERT_EQ(queue.size(), 1u);
  queue[0].resume();
  EXPECT_EQ(step, 1);
  EXPECT_TRUE(task.fence().Query().value());
}

TEST_F(FenceHppTest, ATaskCanBeAwaited) {
  auto fence = takt::Fence::Create().value();
  int step = 0;
  takt::Task inner = AwaitTwo(fence, takt::Fence(), &step);
  takt::Task outer = [](takt::Task task) -> takt::Task {
    co_return co_await task;
  }(inner);
  EXPECT_FALSE(outer.fence().Query().value());
  EXPECT_TRUE(fence.Signal().ok());
  EXPECT_TRUE(outer.fence().Query().value());
}

TEST_F(FenceHppTest, AnExceptionFailsTheTask) {
  takt::Task task = []() -> takt::Task {
    if (true) throw std::runtime_error("thrown");
    co_return takt::Status();
  }();
  EXPECT_EQ(task.fence().Query().status().message(), "thrown");
}

TEST_F(FenceHppTest, SuspensionRacesWithTheSignal) {
  for (int i = 0; i < 300; ++i) {
    auto first = takt::Fence::Create().value();
    auto second = takt::Fence::Create().value();
    int step = 0;
    std::thread one([first] { EXPECT_TRUE(first.Signal().ok()); });
    std::thread other([second] { EXPECT_TRUE(second.Signal().ok()); });
    takt::Task task = AwaitTwo(first, second, &step);
    EXPECT_TRUE(task.fence().Wait(instance_).ok());
    EXPECT_EQ(step, 3);
    one.join();
    other.join();
  }
}

}  // namespace
