#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

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

TEST_F(HalFenceTest, QueryReturnsReachedPendingAndFailed) {
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

TEST_F(HalFenceTest, AwaitTakesAtMost32Fences) {
  std::vector<vm::Value> arguments = {ToValue(kForever), ToValue(kNoFlags)};
  for (int i = 0; i < 33; ++i) arguments.push_back(ToValue(nullptr));
  EXPECT_THAT(calls_.CallValues("hal.fence.await/33", arguments),
              FailsWith(kOutOfRange, "at most 32, got 33"));
}

}  // namespace
}  // namespace takt::modules
