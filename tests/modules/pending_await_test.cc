// How hal.fence.await parks and is woken: by fences, its deadline, or a
// cancellation, whichever is first, and exactly once.
#include "modules/pending_await.h"

#include <thread>

#include "base/clock.h"
#include "tests/modules/hal_calls.h"
#include "tests/support/allocation_faults.h"

namespace takt::modules {
namespace {

// Counts wakes, which must come exactly once per park.
struct WokenCount {
  static void OnWoken(void* argument, vm::Invocation&) {
    ++static_cast<WokenCount*>(argument)->count;
  }
  int count = 0;
};

class PendingAwaitTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_fence"); }

  // Calls hal.fence.await, which parks.
  template <typename... Fences>
  vm::Invocation& Park(const char* import, uint32_t timeout_ms,
                       const Fences&... fences) {
    parked_ = calls_.Prepare(import, timeout_ms, kNoFlags, fences...).value();
    parked_->SetOnWoken(&WokenCount::OnWoken, &woken_);
    EXPECT_EQ(parked_->Run(), vm::Invocation::State::kParked);
    return *parked_;
  }
  int woken_count() const { return woken_.count; }

 private:
  WokenCount woken_;
  Ref<vm::Invocation> parked_;
};

TEST_F(PendingAwaitTest, AwaitParksUntilTheLastFenceIsReached) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  auto prepared =
      calls_.Prepare("hal.fence.await/3", kForever, kNoFlags, a, nullptr, b);
  TAKT_ASSERT_OK(prepared);
  vm::Invocation& invocation = **prepared;
  WokenCount woken;
  invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  TAKT_ASSERT_OK(a->Signal());
  EXPECT_EQ(woken.count, 0);
  TAKT_ASSERT_OK(b->Signal());
  EXPECT_EQ(woken.count, 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  TAKT_ASSERT_OK(invocation.status());
  EXPECT_EQ(invocation.results()[0].i32(), 0);
  EXPECT_EQ(calls_.timers->armed_count, 0);
}

TEST_F(PendingAwaitTest, WithoutMemoryNothingIsAwaitedOrKept) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    const auto a = hal::Fence::Create();
    const auto b = hal::Fence::Create();
    auto prepared =
        calls_.Prepare("hal.fence.await/3", kForever, kNoFlags, a, nullptr, b);
    TAKT_ASSERT_OK(prepared);
    vm::Invocation& invocation = **prepared;
    WokenCount woken;
    invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
    vm::Invocation::State state = vm::Invocation::State::kDone;
    {
      const AllocationFault armed(fault);
      state = invocation.Run();
    }
    is_hit = AllocationFault::is_hit();
    TAKT_ASSERT_OK(a->Signal());
    TAKT_ASSERT_OK(b->Signal());
    if (state == vm::Invocation::State::kParked) {
      EXPECT_EQ(woken.count, 1);
      EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
      TAKT_ASSERT_OK(invocation.status());
    } else {
      EXPECT_TRUE(is_hit);
      EXPECT_EQ(invocation.status().code(),
                absl::StatusCode::kResourceExhausted);
    }
    EXPECT_EQ(invocation.reference_count(), 1) << fault;
  }
}

TEST_F(PendingAwaitTest, AFailureEndsTheAwaitAtOnce) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  auto prepared =
      calls_.Prepare("hal.fence.await/3", kForever, kNoFlags, a, nullptr, b);
  vm::Invocation& invocation = **prepared;
  WokenCount woken;
  invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  b->Fail(absl::AbortedError("lost power"));
  EXPECT_EQ(woken.count, 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_THAT(invocation.status(),
              FailsWith(absl::StatusCode::kAborted, "lost power"));
  TAKT_ASSERT_OK(a->Signal());  // Nobody waits for it any more.
  EXPECT_EQ(woken.count, 1);
}

TEST_F(PendingAwaitTest, AwaitReturnsFourAtItsDeadline) {
  const auto fence = hal::Fence::Create();
  const int64_t before_ns = NowNs();
  vm::Invocation& invocation = Park("hal.fence.await/1", 10, fence);
  EXPECT_GE(calls_.timers->next_deadline_ns(), before_ns + 10'000'000);
  EXPECT_LE(calls_.timers->next_deadline_ns(), NowNs() + 10'000'000);
  calls_.timers->FireAll();
  EXPECT_EQ(woken_count(), 1);
  TAKT_ASSERT_OK(fence->Signal());  // Too late.
  EXPECT_EQ(woken_count(), 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  TAKT_ASSERT_OK(invocation.status());
  EXPECT_EQ(invocation.results()[0].i32(), 4);
}

TEST_F(PendingAwaitTest, AllFencesOfAnAwaitShareOneDeadline) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  vm::Invocation& invocation = Park("hal.fence.await/3", 10, a, b, nullptr);
  TAKT_ASSERT_OK(a->Signal());
  EXPECT_EQ(calls_.timers->armed_count, 1);
  calls_.timers->FireAll();
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_EQ(invocation.results()[0].i32(), 4);
}

// The deadline comes while one fence is being notified and the other is not
// reached.
TEST_F(PendingAwaitTest, ADeadlineBetweenTwoFencesIsADeadline) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  vm::Invocation& invocation = Park("hal.fence.await/3", 10, a, b, nullptr);
  {
    hal::DeferScope telling;  // a's notification ends with it.
    TAKT_ASSERT_OK(a->Signal());
    calls_.timers->FireAll();
  }
  EXPECT_EQ(woken_count(), 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  TAKT_ASSERT_OK(invocation.status());
  EXPECT_EQ(invocation.results()[0].i32(), 4);
}

TEST_F(PendingAwaitTest, AFenceInTimeTakesTheDeadlineBack) {
  const auto fence = hal::Fence::Create();
  // The greatest timeout that is not for ever.
  vm::Invocation& invocation = Park("hal.fence.await/1", kForever - 1, fence);
  EXPECT_FALSE(calls_.timers->idle());
  TAKT_ASSERT_OK(fence->Signal());
  EXPECT_TRUE(calls_.timers->idle());
  EXPECT_EQ(woken_count(), 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_EQ(invocation.results()[0].i32(), 0);
}

// The thread that runs to the end sleeps until another one signals.
TEST_F(PendingAwaitTest, AwaitBlocksACallerThatWantsTheResult) {
  const auto fence = hal::Fence::Create();
  std::thread signaler([&] { EXPECT_TRUE(fence->Signal().ok()); });
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/1", kForever, kNoFlags, fence), 0);
  signaler.join();
}

TEST_F(PendingAwaitTest, RealTimeEndsAnAwait) {
  calls_.options.timers = CreateTimerThread();
  Link("hal_fence");
  const auto fence = hal::Fence::Create();
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/1", int32_t{1}, kNoFlags, fence),
            4);
}

// A cancelled invocation is done at once; what it waited for stays as it was,
// and may end in any order afterwards.
TEST_F(PendingAwaitTest, ACancelledAwaitWaitsForNothing) {
  const auto fence = hal::Fence::Create();
  auto prepared =
      calls_.Prepare("hal.fence.await/1", int32_t{10}, kNoFlags, fence);
  vm::Invocation& invocation = **prepared;
  WokenCount woken;
  invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  invocation.RequestCancel();
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_THAT(invocation.status(), FailsWith(absl::StatusCode::kCancelled, ""));
  EXPECT_TRUE(calls_.timers->idle());
  TAKT_ASSERT_OK(fence->Signal());
  EXPECT_EQ(woken.count, 1);  // By the cancellation.
  EXPECT_TRUE(invocation.IsUnique());
}

// Goal: fence, deadline and cancellation at once wake exactly once, whichever
// is first, and leave nothing behind. Method: real threads race, many times;
// the invocation ends with one of three outcomes and holds no reference.
TEST_F(PendingAwaitTest, FenceDeadlineAndCancellationRace) {
  calls_.options.timers = CreateTimerThread();
  Link("hal_fence");
  for (int round = 0; round < 300; ++round) {
    const auto fence = hal::Fence::Create();
    auto prepared =
        calls_.Prepare("hal.fence.await/1", int32_t{1}, kNoFlags, fence);
    Ref<vm::Invocation> invocation = *std::move(prepared);
    std::thread signaler([&] { EXPECT_TRUE(fence->Signal().ok()); });
    std::thread canceller([&, round] {
      if (round % 3 == 0) invocation->RequestCancel();
    });
    const absl::Status status = invocation->RunToEnd();
    signaler.join();
    canceller.join();
    if (status.ok()) {
      const int32_t result = invocation->results()[0].i32();
      EXPECT_TRUE(result == 0 || result == 4) << result;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
    }
  }
}

}  // namespace
}  // namespace takt::modules
