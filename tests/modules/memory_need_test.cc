#include "modules/memory_need.h"

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class MemoryNeedTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_device"); }
};

TEST_F(MemoryNeedTest, ASizeThatIsAnArgumentIsUnknown) {
  auto prepared =
      calls_.Prepare("hal.device.queue.alloca", calls_.device_ref(),
                     int64_t{-1}, nullptr, nullptr, int64_t{0}, int32_t{48},
                     int32_t{3075}, int64_t{100}, int64_t{0});
  TAKT_ASSERT_OK(prepared);
  const MemoryNeed need =
      QueryMemoryNeed((*prepared)->context(), (*prepared)->callee());
  EXPECT_EQ(need.unknown_count, 1u);
  EXPECT_TRUE(need.byte_lengths.empty());
  EXPECT_EQ(need.BytesMax(), ~uint64_t{0});
}

TEST_F(MemoryNeedTest, FunctionsWithoutAllocationsNeedNothing) {
  auto prepared =
      calls_.Prepare("hal.device.queue.barrier", calls_.device_ref(),
                     int64_t{-1}, nullptr, nullptr, int64_t{0});
  TAKT_ASSERT_OK(prepared);
  const MemoryNeed need =
      QueryMemoryNeed((*prepared)->context(), (*prepared)->callee());
  EXPECT_EQ(need.unknown_count, 0u);
  EXPECT_EQ(need.BytesMax(), 0u);
}

TEST(MemoryNeedSumTest, IsKnownOnlyIfAllIs) {
  MemoryNeed need;
  need.byte_lengths = {100, 28};
  EXPECT_EQ(need.BytesMax(), 128u);
  need.is_once = false;
  EXPECT_EQ(need.BytesMax(), ~uint64_t{0});
  need.is_once = true;
  need.byte_lengths.push_back(~uint64_t{0} - 5);
  EXPECT_EQ(need.BytesMax(), ~uint64_t{0});
}

}  // namespace
}  // namespace takt::modules
