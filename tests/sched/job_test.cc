#include "sched/job.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace takt::sched {
namespace {

TEST(JobTest, ASlotThatIsUsedForYearsNeverLooksLikeNone) {
  EXPECT_EQ(NextGeneration(0), 1u);
  EXPECT_EQ(NextGeneration(1), 2u);
  const OperationId id = {0, NextGeneration(UINT32_MAX)};
  EXPECT_NE(id, OperationId());
}

}  // namespace
}  // namespace takt::sched
