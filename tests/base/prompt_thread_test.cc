#include "base/prompt_thread.h"

#include <pthread.h>
#include <sched.h>
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

TEST(PromptThreadTest, IsLessNiceIfItMay) {
  const int before = Nice();
  std::thread([before] {
    const int wanted = std::max(before + kPromptNice, -20);
    MakeThisThreadPrompt();
    EXPECT_EQ(Policy(), SCHED_OTHER);
    const int now = Nice();
    // What the kernel says to whoever asks in the ordinary way.
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)),
                    wanted) == 0) {
      EXPECT_EQ(now, wanted);
    } else {
      EXPECT_EQ(now, before);
    }
  }).join();
  EXPECT_EQ(Nice(), before);  // The other threads stay as they are.
}

TEST(PromptThreadTest, LeavesARealTimeThreadAlone) {
  std::thread([] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
      GTEST_SKIP() << "no right to SCHED_FIFO";
    }
    MakeThisThreadPrompt();
    EXPECT_EQ(Policy(), SCHED_FIFO);
    sched_param now{};
    ASSERT_EQ(sched_getparam(0, &now), 0);
    EXPECT_EQ(now.sched_priority, 1);
  }).join();
}

}  // namespace
}  // namespace takt
