#include "npu/quarantine.h"

#include <algorithm>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt::npu {
namespace {

NpuFaultPolicy PolicyOf(uint32_t quarantine_after, int64_t quarantine_ns) {
  NpuFaultPolicy policy;
  policy.quarantine_after = quarantine_after;
  policy.quarantine_ns = quarantine_ns;
  return policy;
}

TEST(QuarantineTest, BeginsAfterTheNumberOfFailuresOfThePolicy) {
  Quarantine quarantine(PolicyOf(3, 100));
  EXPECT_FALSE(quarantine.NoteFailure());
  EXPECT_FALSE(quarantine.NoteFailure());
  quarantine.NoteSuccess();
  EXPECT_FALSE(quarantine.NoteFailure());
  EXPECT_FALSE(quarantine.NoteFailure());
  EXPECT_TRUE(quarantine.NoteFailure());
}

TEST(QuarantineTest, AProbeIsDueOnceItHasLasted) {
  Quarantine quarantine(PolicyOf(1, 100));
  EXPECT_FALSE(quarantine.is_on());
  EXPECT_FALSE(quarantine.IsProbeDue(kInfiniteFuture));
  EXPECT_EQ(quarantine.Begin(1'000), 100);
  EXPECT_TRUE(quarantine.is_on());
  EXPECT_TRUE(quarantine.IsClosed(1'099));
  EXPECT_FALSE(quarantine.IsProbeDue(1'099));
  EXPECT_FALSE(quarantine.IsClosed(1'100));
  EXPECT_TRUE(quarantine.IsProbeDue(1'100));
  quarantine.End();
  EXPECT_FALSE(quarantine.is_on());
  EXPECT_FALSE(quarantine.IsClosed(1'050));
}

TEST(QuarantineTest, DoublesUntilWorkSucceedsUpToALimit) {
  Quarantine quarantine(PolicyOf(1, 100));
  int64_t expected_ns = 100;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(quarantine.Begin(0), expected_ns);
    expected_ns = std::min(expected_ns * 2, 100 * Quarantine::kGrowthMax);
  }
  EXPECT_EQ(expected_ns, 6'400);
  quarantine.NoteSuccess();
  EXPECT_EQ(quarantine.Begin(0), 100);
}

TEST(QuarantineTest, RemembersWhetherTheNpuIsLost) {
  Quarantine quarantine(PolicyOf(1, 100));
  EXPECT_FALSE(quarantine.is_lost());
  quarantine.SetLost(true);
  EXPECT_TRUE(quarantine.is_lost());
  quarantine.SetLost(false);
  EXPECT_FALSE(quarantine.is_lost());
}

}  // namespace
}  // namespace takt::npu
