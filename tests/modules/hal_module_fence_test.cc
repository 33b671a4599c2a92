#include <thread>

#include "base/clock.h"
#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

constexpr int64_t kNoFlags = 0;
constexpr uint32_t kForever = ~uint32_t{0};

class HalFenceTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_fence"); }

  static bool IsReached(const hal::Fence& fence) {
    bool reached = false;
    EXPECT_TRUE(fence.Query(&reached).ok());
    return reached;
  }
};

TEST_F(HalFenceTest, CreateGivesANewFence) {
  auto fence = calls_.CallRef<hal::Fence>("hal.fence.create",
                                          calls_.device_ref(), kNoFlags);
  TAKT_ASSERT_OK(fence);
  ASSERT_EQ((*fence)->points().size(), 1u);
  EXPECT_EQ((*fence)->points()[0].value, 1u);
  EXPECT_FALSE(IsReached(**fence));
  auto other = calls_.CallRef<hal::Fence>("hal.fence.create",
                                          calls_.device_ref(), kNoFlags);
  EXPECT_NE((*fence)->points()[0].timeline, (*other)->points()[0].timeline);
}

TEST_F(HalFenceTest, CreateNeedsADevice) {
  EXPECT_THAT(calls_.Call("hal.fence.create", nullptr, kNoFlags),
              FailsWith(kInvalid, "expected hal.device, got null"));
  EXPECT_THAT(calls_.Call("hal.fence.create", hal::Fence::Create(), kNoFlags),
              FailsWith(kInvalid, "expected hal.device, got hal.fence"));
}

TEST_F(HalFenceTest, ErrorsNameTheImport) {
  EXPECT_THAT(calls_.Call("hal.fence.create", nullptr, kNoFlags),
              FailsWith(kInvalid, "hal.fence.create"));
}

TEST_F(HalFenceTest, JoinIsReachedWhenAllAre) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  auto joined =
      calls_.CallRef<hal::Fence>("hal.fence.join/3", kNoFlags, a, nullptr, b);
  TAKT_ASSERT_OK(joined);
  EXPECT_EQ((*joined)->points().size(), 2u);
  TAKT_ASSERT_OK(a->Signal());
  EXPECT_FALSE(IsReached(**joined));
  TAKT_ASSERT_OK(b->Signal());
  EXPECT_TRUE(IsReached(**joined));
}

TEST_F(HalFenceTest, JoinTakesTheGreatestValueOfATimeline) {
  const auto timeline = hal::Timeline::Create(0);
  const auto early = *hal::Fence::FromPoints({{timeline, 2}});
  const auto late = *hal::Fence::FromPoints({{timeline, 5}});
  auto joined = calls_.CallRef<hal::Fence>("hal.fence.join/3", kNoFlags, early,
                                           late, early);
  ASSERT_EQ((*joined)->points().size(), 1u);
  EXPECT_EQ((*joined)->points()[0].value, 5u);
}

TEST_F(HalFenceTest, JoinOfNothingIsNull) {
  EXPECT_EQ(*calls_.CallRef<hal::Fence>("hal.fence.join/0", kNoFlags), nullptr);
  EXPECT_EQ(*calls_.CallRef<hal::Fence>("hal.fence.join/3", kNoFlags, nullptr,
                                        nullptr, nullptr),
            nullptr);
}

TEST_F(HalFenceTest, JoinTakesFencesOnly) {
  EXPECT_THAT(calls_.Call("hal.fence.join/1", kNoFlags, calls_.device_ref()),
              FailsWith(kInvalid, "expected hal.fence, got hal.device"));
}

TEST_F(HalFenceTest, QueryTellsReachedPendingAndFailed) {
  const auto fence = hal::Fence::Create();
  EXPECT_EQ(*calls_.CallI32("hal.fence.query", fence), 17);
  TAKT_ASSERT_OK(fence->Signal());
  EXPECT_EQ(*calls_.CallI32("hal.fence.query", fence), 0);
  const auto failed = hal::Fence::Create();
  failed->Fail(absl::DataLossError("gone"));
  EXPECT_EQ(*calls_.CallI32("hal.fence.query", failed), 15);
  EXPECT_THAT(calls_.Call("hal.fence.query", nullptr), FailsWith(kInvalid, ""));
}

TEST_F(HalFenceTest, SignalReachesTheFence) {
  const auto fence = hal::Fence::Create();
  TAKT_ASSERT_OK(calls_.Call("hal.fence.signal", fence));
  EXPECT_TRUE(IsReached(*fence));
}

TEST_F(HalFenceTest, SignalRejectsNullAndFailedFences) {
  EXPECT_THAT(calls_.Call("hal.fence.signal", nullptr),
              FailsWith(kInvalid, "hal.fence.signal"));
  const auto failed = hal::Fence::Create();
  failed->Fail(absl::DataLossError("gone"));
  EXPECT_THAT(calls_.Call("hal.fence.signal", failed),
              FailsWith(absl::StatusCode::kDataLoss, "gone"));
}

TEST_F(HalFenceTest, FailHandsOnTheCode) {
  struct Case {
    int32_t given;
    int32_t expected;
  };
  // Codes count in their low five bits; 17 and 18 are the ABI's own. OK is no
  // failure to report, so it becomes UNKNOWN.
  for (const Case& c : {Case{13, 13}, Case{15, 15}, Case{18, 18}, Case{17, 17},
                        Case{32 + 9, 9}, Case{0, 2}, Case{-32 + 5, 5}}) {
    const auto fence = hal::Fence::Create();
    TAKT_ASSERT_OK(calls_.Call("hal.fence.fail", fence, c.given));
    EXPECT_EQ(*calls_.CallI32("hal.fence.query", fence), c.expected) << c.given;
    EXPECT_FALSE(calls_.Call("hal.fence.signal", fence).ok());
  }
  EXPECT_THAT(calls_.Call("hal.fence.fail", nullptr, int32_t{13}),
              FailsWith(kInvalid, ""));
}

TEST_F(HalFenceTest, AwaitOfNothingReturnsAtOnce) {
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/0", kForever, kNoFlags), 0);
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/3", kForever, kNoFlags, nullptr,
                            nullptr, nullptr),
            0);
}

TEST_F(HalFenceTest, AwaitOfReachedFencesDoesNotPark) {
  const auto fence = hal::Fence::Create();
  TAKT_ASSERT_OK(fence->Signal());
  auto invocation =
      calls_.Prepare("hal.fence.await/1", kForever, kNoFlags, fence);
  TAKT_ASSERT_OK(invocation);
  EXPECT_EQ((*invocation)->Run(), vm::Invocation::State::kDone);
  EXPECT_EQ((*invocation)->results()[0].i32(), 0);
}

TEST_F(HalFenceTest, AwaitOfAFailedFenceFailsTheCall) {
  const auto reached = hal::Fence::Create();
  TAKT_ASSERT_OK(reached->Signal());
  const auto failed = hal::Fence::Create();
  failed->Fail(absl::DataLossError("the cause"));
  const auto pending = hal::Fence::Create();
  EXPECT_THAT(calls_.Call("hal.fence.await/3", kForever, kNoFlags, pending,
                          reached, failed),
              FailsWith(absl::StatusCode::kDataLoss, "the cause"));
}

TEST_F(HalFenceTest, AwaitPollsWithoutTime) {
  const auto fence = hal::Fence::Create();
  auto invocation =
      calls_.Prepare("hal.fence.await/1", int32_t{0}, kNoFlags, fence);
  EXPECT_EQ((*invocation)->Run(), vm::Invocation::State::kDone);
  EXPECT_EQ((*invocation)->results()[0].i32(), 4);
  EXPECT_EQ(calls_.timers->armed_count, 0);
}

// Counts wakes, which must come exactly once per park.
struct WokenCount {
  static void OnWoken(void* argument, vm::Invocation&) {
    ++static_cast<WokenCount*>(argument)->count;
  }
  int count = 0;
};

TEST_F(HalFenceTest, AwaitParksUntilTheLastFenceIsReached) {
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

TEST_F(HalFenceTest, AFailureEndsTheAwaitAtOnce) {
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

TEST_F(HalFenceTest, AwaitReturnsFourAtItsDeadline) {
  const auto fence = hal::Fence::Create();
  const int64_t before_ns = NowNs();
  auto prepared =
      calls_.Prepare("hal.fence.await/1", int32_t{10}, kNoFlags, fence);
  vm::Invocation& invocation = **prepared;
  WokenCount woken;
  invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  EXPECT_GE(calls_.timers->next_deadline_ns(), before_ns + 10'000'000);
  EXPECT_LE(calls_.timers->next_deadline_ns(), NowNs() + 10'000'000);
  calls_.timers->FireAll();
  EXPECT_EQ(woken.count, 1);
  TAKT_ASSERT_OK(fence->Signal());  // Too late.
  EXPECT_EQ(woken.count, 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  TAKT_ASSERT_OK(invocation.status());
  EXPECT_EQ(invocation.results()[0].i32(), 4);
}

TEST_F(HalFenceTest, AllFencesOfAnAwaitShareOneDeadline) {
  const auto a = hal::Fence::Create();
  const auto b = hal::Fence::Create();
  auto prepared =
      calls_.Prepare("hal.fence.await/3", int32_t{10}, kNoFlags, a, b, nullptr);
  vm::Invocation& invocation = **prepared;
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  TAKT_ASSERT_OK(a->Signal());
  EXPECT_EQ(calls_.timers->armed_count, 1);
  calls_.timers->FireAll();
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_EQ(invocation.results()[0].i32(), 4);
}

TEST_F(HalFenceTest, AFenceInTimeTakesTheDeadlineBack) {
  const auto fence = hal::Fence::Create();
  // The greatest timeout that is not for ever.
  auto prepared =
      calls_.Prepare("hal.fence.await/1", kForever - 1, kNoFlags, fence);
  vm::Invocation& invocation = **prepared;
  WokenCount woken;
  invocation.SetOnWoken(&WokenCount::OnWoken, &woken);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kParked);
  EXPECT_FALSE(calls_.timers->idle());
  TAKT_ASSERT_OK(fence->Signal());
  EXPECT_TRUE(calls_.timers->idle());
  EXPECT_EQ(woken.count, 1);
  EXPECT_EQ(invocation.Run(), vm::Invocation::State::kDone);
  EXPECT_EQ(invocation.results()[0].i32(), 0);
}

TEST_F(HalFenceTest, AwaitTakesAtMost32Fences) {
  std::vector<vm::Value> arguments = {ToValue(kForever), ToValue(kNoFlags)};
  for (int i = 0; i < 33; ++i) arguments.push_back(ToValue(nullptr));
  EXPECT_THAT(calls_.CallValues("hal.fence.await/33", arguments),
              FailsWith(kOutOfRange, "at most 32, got 33"));
}

// The thread that runs to the end sleeps until another one signals.
TEST_F(HalFenceTest, AwaitBlocksACallerThatWantsTheResult) {
  const auto fence = hal::Fence::Create();
  std::thread signaler([&] { EXPECT_TRUE(fence->Signal().ok()); });
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/1", kForever, kNoFlags, fence), 0);
  signaler.join();
}

TEST_F(HalFenceTest, RealTimeEndsAnAwait) {
  calls_.options.timers = CreateTimerThread();
  Link("hal_fence");
  const auto fence = hal::Fence::Create();
  EXPECT_EQ(*calls_.CallI32("hal.fence.await/1", int32_t{1}, kNoFlags, fence),
            4);
}

// A cancelled invocation is done at once; what it waited for stays as it was,
// and may end in any order afterwards.
TEST_F(HalFenceTest, ACancelledAwaitWaitsForNothing) {
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
TEST_F(HalFenceTest, FenceDeadlineAndCancellationRace) {
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
