#include "hal/fence_diagnosis.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FenceDiagnosisTest, DescribesAReachedFence) {
  Ref<Fence> fence = Fence::Create();
  ASSERT_TRUE(fence->Signal().ok());
  EXPECT_EQ(ExplainFence(*fence), "reached");
}

TEST(FenceDiagnosisTest, DescribesAFailedFenceByItsCause) {
  Ref<Fence> fence = Fence::Create();
  fence->Fail(absl::DataLossError("torn"));
  EXPECT_EQ(ExplainFence(*fence), "failed: DATA_LOSS: torn");
}

TEST(FenceDiagnosisTest, NamesTheTimelinesThatAreNotThereYet) {
  Ref<Timeline> camera = Timeline::Create(3), bus = Timeline::Create(0);
  camera->set_name("camera");
  camera->SetSignaller(5, Signaller::Create("file descriptor 7"));
  Ref<Fence> fence = *Fence::FromPoints({{bus, 2}, {camera, 5}});
  EXPECT_EQ(ExplainFence(*fence),
            "waits for 2 of 2 points\n"
            "  timeline 0 is at 0 and must reach 2\n"
            "  timeline \"camera\" is at 3 and must reach 5; to be signaled by "
            "file descriptor 7");
  ASSERT_TRUE(bus->Signal(2).ok());
  EXPECT_THAT(ExplainFence(*fence), HasSubstr("waits for 1 of 2 points"));
  EXPECT_THAT(ExplainFence(*fence), Not(HasSubstr("timeline 0")));
}

TEST(FenceDiagnosisTest, SaysWhenNoOtherReferenceCanSignal) {
  Ref<Fence> fence = Fence::Create();
  EXPECT_THAT(ExplainFence(*fence), HasSubstr("only the holder of this fence"));
  Ref<Fence> other = fence;
  EXPECT_THAT(ExplainFence(*fence), Not(HasSubstr("only the holder")));
}

TEST(FenceDiagnosisTest, NamesTheSharesOfABarrierThatAreTaken) {
  Ref<Fence> barrier = *Fence::CreateBarrier(3);
  ASSERT_TRUE(barrier->Signal().ok());
  Ref<Fence> share = *barrier->TakeShare();
  const std::string text = ExplainFence(*barrier);
  EXPECT_THAT(text, HasSubstr("barrier: waits for 2 of 3 points"));
  EXPECT_THAT(text,
              HasSubstr("timeline 1 is at 0 and must reach 1; a signaller "
                        "has its share\n"));
  EXPECT_THAT(text, HasSubstr("timeline 2 is at 0 and must reach 1; no "
                              "signaller has come for it yet; only the"));
}

TEST(FenceDiagnosisTest, NamesTheFirstOfManyPoints) {
  Ref<Fence> barrier = *Fence::CreateBarrier(100);
  const std::string text = ExplainFence(*barrier);
  EXPECT_THAT(text, HasSubstr("waits for 100 of 100 points"));
  EXPECT_THAT(text, HasSubstr("timeline 19 "));
  EXPECT_THAT(text, Not(HasSubstr("timeline 20 ")));
  EXPECT_THAT(text, HasSubstr("and 80 more"));
}

}  // namespace
}  // namespace takt::hal
