#include "sched/recent_runs.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RecentRunsTest, GivesThoseThatEndedLaterTheLatestFirst) {
  RecentRuns runs;
  std::vector<KernelId> seen;
  const auto note = [&](const KernelRun& run) { seen.push_back(run.kernel); };
  EXPECT_TRUE(runs.VisitSince(0, note));
  EXPECT_THAT(seen, IsEmpty());
  for (KernelId i = 1; i <= 3; ++i) runs.Add({0, i, 0, 1, 0, 10 * i});
  EXPECT_TRUE(runs.VisitSince(10, note));
  EXPECT_THAT(seen, ElementsAre(3, 2));
}

TEST(RecentRunsTest, SaysIfItHasForgottenSome) {
  RecentRuns runs;
  for (KernelId i = 1; i <= 1000; ++i) runs.Add({0, i, 0, 1, 0, i});
  int count = 0;
  EXPECT_FALSE(runs.VisitSince(1, [&](const KernelRun&) { ++count; }));
  EXPECT_GT(count, 30);
  EXPECT_TRUE(runs.VisitSince(
      990, [](const KernelRun& run) { EXPECT_GT(run.end_ns, 990); }));
}

}  // namespace
}  // namespace takt::sched
