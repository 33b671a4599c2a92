#include "base/thread_latency.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"

namespace takt {
namespace {

int Nice() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
}

int Policy() { return sched_getscheduler(0); }

TEST(LowLatencyTest, LowersTheNiceValueIfItMay) {
  const int before = Nice();
  std::thread([before] {
    const int wanted = std::max(before + kLowLatencyNice, -20);
    (void)RequestLowLatency();
    EXPECT_EQ(Policy(), SCHED_OTHER);
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1);
    const int now = Nice();
    // setpriority() shows whether the process has the right to it.
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)),
                    wanted) == 0) {
      EXPECT_EQ(now, wanted);
    } else {
      EXPECT_EQ(now, before);
    }
  }).join();
  EXPECT_EQ(Nice(), before);  // The other threads stay as they are.
}

// The result agrees with the kernel.
TEST(LowLatencyTest, SaysWhetherItsSlicesAreShort) {
  struct Attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
  };
  std::thread([] {
    const bool has_short_slices = RequestLowLatency();
    Attributes attributes{};
    ASSERT_EQ(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0),
              0);
    EXPECT_EQ(has_short_slices, attributes.runtime_ns ==
                                    static_cast<uint64_t>(kLowLatencySliceNs));
  }).join();
}

TEST(LowLatencyTest, LeavesABatchThreadAlone) {
  std::thread([] {
    const sched_param parameters{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &parameters), 0);
    const int before = Nice();
    EXPECT_FALSE(RequestLowLatency());
    EXPECT_EQ(Policy(), SCHED_BATCH);
    EXPECT_EQ(Nice(), before);
  }).join();
}

TEST(LowLatencyTest, LeavesARealTimeThreadAlone) {
  std::thread([] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
      GTEST_SKIP() << "no right to SCHED_FIFO";
    }
    EXPECT_TRUE(RequestLowLatency());
    EXPECT_EQ(Policy(), SCHED_FIFO);
    sched_param now{};
    ASSERT_EQ(sched_getparam(0, &now), 0);
    EXPECT_EQ(now.sched_priority, 1);
  }).join();
}

}  // namespace
}  // namespace takt
