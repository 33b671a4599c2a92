#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace takt {
namespace {

// A thread's view of itself.
struct Look {
  std::string name;
  size_t stack_bytes = 0;
  size_t guard_bytes = 0;

  static void Run(void* argument) {
    auto* look = static_cast<Look*>(argument);
    char text[16];
    pthread_getname_np(pthread_self(), text, sizeof(text));
    look->name = text;
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &look->stack_bytes);
    pthread_attr_getguardsize(&attributes, &look->guard_bytes);
    pthread_attr_destroy(&attributes);
  }
};

Look RunOne(const Thread::Options& options) {
  Thread thread;
  Look look;
  EXPECT_FALSE(thread.is_started());
  EXPECT_TRUE(thread.Start(options, &Look::Run, &look).ok());
  EXPECT_TRUE(thread.is_started());
  thread.Join();
  return look;
}

// Sets the soft limit of stacks for as long as it lives.
class ScopedStackLimit {
 public:
  explicit ScopedStackLimit(rlim_t bytes) : bytes_(bytes) {
    getrlimit(RLIMIT_STACK, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    is_set_ = setrlimit(RLIMIT_STACK, &limit) == 0;
  }
  ~ScopedStackLimit() { setrlimit(RLIMIT_STACK, &before_); }
  bool is_set() const { return is_set_; }
  // qemu-user takes a limit of stacks and does not apply it.
  bool is_ignored() const {
    rlimit now{};
    return getrlimit(RLIMIT_STACK, &now) == 0 && is_set_ &&
           now.rlim_cur == before_.rlim_cur && before_.rlim_cur != bytes_;
  }

 private:
  const rlim_t bytes_;
  rlimit before_{};
  bool is_set_ = false;
};

TEST(ThreadTest, HasANameAStackAndAGuard) {
  const Look look =
      RunOne({.name = "a-name-that-is-too-long", .stack_bytes = 3 << 20});
  EXPECT_EQ(look.name, "a-name-that-is-");
  EXPECT_GE(look.stack_bytes, size_t{3} << 20);
  EXPECT_EQ(look.guard_bytes, kStackGuardBytes);
}

TEST(ThreadTest, StackIsAsLargeAsTheMainThreadsLimit) {
  const ScopedStackLimit limit(5 << 20);
  ASSERT_TRUE(limit.is_set());
  if (limit.is_ignored()) GTEST_SKIP() << "the limit is not applied";
  EXPECT_EQ(DefaultStackBytes(), size_t{5} << 20);
  EXPECT_GE(RunOne({.name = "as-main"}).stack_bytes, size_t{5} << 20);
}

TEST(ThreadTest, StackHasAFloorUnderASmallLimit) {
  const ScopedStackLimit limit(256 << 10);
  ASSERT_TRUE(limit.is_set());
  if (limit.is_ignored()) GTEST_SKIP() << "the limit is not applied";
  EXPECT_EQ(DefaultStackBytes(), kStackMinBytes);
}

TEST(ThreadTest, StackHasACapWithoutALimit) {
  const ScopedStackLimit limit(RLIM_INFINITY);
  if (!limit.is_set() || limit.is_ignored()) {
    GTEST_SKIP() << "the hard limit does not permit it, or is not applied";
  }
  EXPECT_EQ(DefaultStackBytes(), kStackUnlimitedBytes);
}

TEST(ThreadTest, AStackThatIsTooLargeIsAnError) {
  Thread thread;
  Look look;
  const absl::Status status = thread.Start(
      {.name = "huge", .stack_bytes = size_t{1} << 50}, &Look::Run, &look);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "thread huge with a stack of 1125899906842624 bytes did not start: "
            "Resource temporarily unavailable");
  EXPECT_FALSE(thread.is_started());
}

// An application that provides a limited number of threads, and counts them.
struct Application {
  int left = 1;
  uint32_t worker = 0;
  std::string name;
  std::thread thread;

  ThreadHooks hooks() {
    return {this, &Application::Create, &Application::Join};
  }
  static bool Create(void* self, uint32_t worker, const char* name,
                     void (*run)(void*), void* argument, void** thread) {
    auto* application = static_cast<Application*>(self);
    application->worker = worker;
    application->name = name;
    if (application->left-- == 0) return false;
    application->thread = std::thread(run, argument);
    *thread = &application->thread;
    return true;
  }
  static void Join(void*, void* thread) {
    static_cast<std::thread*>(thread)->join();
  }
};

TEST(ThreadTest, AnApplicationMaySupplyTheThread) {
  Application application;
  EXPECT_EQ(RunOne({.name = "theirs", .hooks = application.hooks()}).name,
            "theirs");
  EXPECT_EQ(application.name, "theirs");
  EXPECT_EQ(application.worker, Thread::kNoWorker);
  EXPECT_FALSE(application.thread.joinable());
  // There is only the one.
  Thread thread;
  Look look;
  EXPECT_EQ(
      thread
          .Start({.name = "second", .worker = 3, .hooks = application.hooks()},
                 &Look::Run, &look)
          .message(),
      "the application gives no thread for second");
  EXPECT_EQ(application.worker, 3u);
}

TEST(ThreadTest, AThreadThatARealTimeThreadStartsIsOrdinary) {
  int policy = -1;
  bool has_right = false;
  std::thread([&] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    has_right =
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
    Thread thread;
    const auto run = [](void* argument) {
      *static_cast<int*>(argument) = sched_getscheduler(0);
    };
    EXPECT_TRUE(thread.Start({.name = "ordinary"}, run, &policy).ok());
    thread.Join();
  }).join();
  EXPECT_EQ(policy, SCHED_OTHER);
  if (!has_right) GTEST_SKIP() << "no right to SCHED_FIFO";
}

TEST(ThreadTest, AThreadMayDetachItself) {
  struct Self {
    Thread thread;
    pthread_t handle{};
    bool was_here = false;
    bool is_detached = false;
  } self;
  const auto run = [](void* argument) {
    auto* here = static_cast<Self*>(argument);
    here->was_here = here->thread.IsThisThread();
  };
  ASSERT_TRUE(self.thread.Start({.name = "self"}, run, &self).ok());
  EXPECT_FALSE(self.thread.IsThisThread());
  self.thread.Join();
  EXPECT_TRUE(self.was_here);
}

}  // namespace
}  // namespace takt
