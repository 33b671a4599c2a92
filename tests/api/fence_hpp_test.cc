#include <gtest/gtest.h>

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
  auto share = barrier.TakeShare().value();
  EXPECT_TRUE(barrier.Signal().ok());
  EXPECT_FALSE(barrier.Query().value());
  EXPECT_TRUE(share.Signal().ok());
  EXPECT_TRUE(barrier.Query().value());
  EXPECT_EQ(barrier.TakeShare().status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
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

}  // namespace
