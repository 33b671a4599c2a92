#include "modules/queue_group.h"

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class QueueGroupTest : public testing::Test {
 protected:
  bool IsSignaled() const {
    bool reached = false;
    EXPECT_TRUE(signal_->Query(&reached).ok());
    return reached;
  }

  HalCalls calls_;
  Ref<hal::Fence> wait_ = hal::Fence::Create();
  Ref<hal::Fence> signal_ = hal::Fence::Create();
};

TEST_F(QueueGroupTest, SignalsWhenEveryOperationIsDone) {
  QueueGroup group(calls_.device(),
                   {.wait = wait_.get(), .signal = signal_.get()});
  // Each operation is done when the test signals for it.
  std::vector<Ref<hal::Fence>> operations;
  for (int i = 0; i < 3; ++i) {
    TAKT_ASSERT_OK(group.Add([&](const hal::QueueTicket& ticket) {
      EXPECT_EQ(ticket.wait, wait_.get());
      operations.push_back(Ref<hal::Fence>::Retain(ticket.signal));
      return absl::OkStatus();
    }));
  }
  TAKT_ASSERT_OK(group.Finish());
  for (const auto& operation : operations) {
    EXPECT_FALSE(IsSignaled());
    TAKT_ASSERT_OK(operation->Signal());
  }
  EXPECT_TRUE(IsSignaled());
}

TEST_F(QueueGroupTest, FailsWithTheFirstFailure) {
  QueueGroup group(calls_.device(),
                   {.wait = wait_.get(), .signal = signal_.get()});
  TAKT_ASSERT_OK(group.Add([&](const hal::QueueTicket& ticket) {
    ticket.signal->Fail(absl::DataLossError("the first"));
    return absl::OkStatus();
  }));
  TAKT_ASSERT_OK(
      group.Add([](const hal::QueueTicket&) { return absl::OkStatus(); }));
  TAKT_ASSERT_OK(group.Finish());
  EXPECT_THAT(signal_->Wait(INT64_MAX),
              FailsWith(absl::StatusCode::kDataLoss, "the first"));
}

TEST_F(QueueGroupTest, WithoutOperationsItHandsTheWaitOn) {
  QueueGroup group(calls_.device(),
                   {.wait = wait_.get(), .signal = signal_.get()});
  TAKT_ASSERT_OK(group.Finish());
  EXPECT_FALSE(IsSignaled());
  TAKT_ASSERT_OK(wait_->Signal());
  EXPECT_TRUE(IsSignaled());
}

TEST_F(QueueGroupTest, HandsOnAnErrorOfTheSubmission) {
  QueueGroup group(calls_.device(), {});
  EXPECT_THAT(group.Add([](const hal::QueueTicket&) {
    return absl::OutOfRangeError("no such range");
  }),
              FailsWith(kOutOfRange, "no such range"));
}

}  // namespace
}  // namespace takt::modules
