#include "exec/cpu_load.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

TEST(CpuLoadTest, CountsEachThreadWhereItWasSeenLast) {
  CpuLoad load;
  load.Init(4);
  int32_t a = CpuLoad::kNowhere;
  int32_t b = CpuLoad::kNowhere;
  load.Enter(1, &a);
  load.Enter(1, &a);
  load.Enter(1, &b);
  EXPECT_EQ(load.CountOn(1), 2u);
  load.Enter(3, &b);
  EXPECT_EQ(load.CountOn(1), 1u);
  EXPECT_EQ(load.CountOn(3), 1u);
  load.Leave(&a);
  load.Leave(&a);
  EXPECT_EQ(load.CountOn(1), 0u);
  EXPECT_EQ(a, CpuLoad::kNowhere);
}

TEST(CpuLoadTest, CrowdingCountsThreadsWithoutAProcessorOfTheirOwn) {
  CpuLoad load;
  load.Init(4);
  int32_t seen_on[4] = {CpuLoad::kNowhere, CpuLoad::kNowhere, CpuLoad::kNowhere,
                        CpuLoad::kNowhere};
  load.Enter(0, &seen_on[0]);
  load.Enter(1, &seen_on[1]);
  EXPECT_EQ(load.crowding(), 0u);
  load.Enter(1, &seen_on[2]);
  load.Enter(1, &seen_on[3]);
  EXPECT_EQ(load.crowding(), 2u);
  load.Enter(2, &seen_on[1]);
  EXPECT_EQ(load.crowding(), 1u);
  load.Enter(4, &seen_on[2]);  // No processor that is counted.
  EXPECT_EQ(load.crowding(), 0u);
  load.Enter(2, &seen_on[3]);
  EXPECT_EQ(load.crowding(), 1u);
  for (int32_t& seen : seen_on) load.Leave(&seen);
  EXPECT_EQ(load.crowding(), 0u);
}

TEST(CpuLoadTest, IgnoresProcessorsThatItDoesNotKnow) {
  CpuLoad load;
  load.Init(2);
  int32_t seen_on = CpuLoad::kNowhere;
  load.Enter(0, &seen_on);
  load.Enter(2, &seen_on);
  EXPECT_EQ(seen_on, CpuLoad::kNowhere);
  EXPECT_EQ(load.CountOn(0), 0u);
  EXPECT_EQ(load.CountOn(2), 0u);
  EXPECT_EQ(load.CountOn(-1), 0u);
  load.Enter(-1, &seen_on);
  load.Leave(&seen_on);
}

TEST(CpuLoadTest, ManyThreadsLeaveNothingBehind) {
  CpuLoad load;
  load.Init(3);
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&load, t] {
      int32_t seen_on = CpuLoad::kNowhere;
      for (int32_t i = 0; i < 1000; ++i) load.Enter((i + t) % 4, &seen_on);
      load.Leave(&seen_on);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int32_t cpu = 0; cpu < 3; ++cpu) EXPECT_EQ(load.CountOn(cpu), 0u);
  EXPECT_EQ(load.crowding(), 0u);
}

}  // namespace
}  // namespace takt::exec
