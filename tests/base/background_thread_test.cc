#include "base/background_thread.h"

#include <new>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(BackgroundThreadTest, RunsTasksInOrderOnItsOwnThread) {
  std::vector<int> order;
  std::thread::id thread;
  Sleeper done;
  BackgroundThread background;
  for (int i = 0; i < 100; ++i) {
    background.Post([&order, i] { order.push_back(i); });
  }
  background.Post([&] {
    thread = std::this_thread::get_id();
    done.Raise(1);
  });
  while (done.raised() == 0) done.Sleep(kInfiniteFuture);
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(BackgroundThreadTest, StartsNoThreadWithoutATask) {
  int created = 0;
  Thread::Options options;
  options.hooks.user_data = &created;
  options.hooks.create = [](void* user_data, uint32_t, const char*,
                            void (*)(void*), void*, void**) {
    ++*static_cast<int*>(user_data);
    return false;
  };
  { const BackgroundThread background(options, /*has_no_thread=*/false); }
  EXPECT_EQ(created, 0);
}

TEST(BackgroundThreadTest, ItsDestructorWaitsForTheRunningTaskOnly) {
  Sleeper began;
  Sleeper may_end;
  bool has_ended = false;
  int count = 0;
  {
    BackgroundThread background;
    background.Post([&] {
      began.Raise(1);
      while (may_end.raised() == 0) may_end.Sleep(kInfiniteFuture);
      has_ended = true;
    });
    while (began.raised() == 0) began.Sleep(kInfiniteFuture);
    // The destructor may run before the second task, which then is dropped.
    background.Post([&] { ++count; });
    may_end.Raise(1);
  }
  EXPECT_TRUE(has_ended);
  EXPECT_LE(count, 1);
}

// No machine has the memory for this stack.
TEST(BackgroundThreadTest, ARefusedThreadIsAskedForAgain) {
  Thread::Options options;
  options.stack_bytes = size_t{1} << 50;
  int refused_count = 0;
  std::vector<int> order;
  BackgroundThread background(options, /*has_no_thread=*/false,
                              [&] { ++refused_count; });
  background.Post([&] { order.push_back(0); });
  EXPECT_EQ(refused_count, 1);
  background.Post([&] { order.push_back(1); });
  EXPECT_EQ(refused_count, 2);
  while (background.RunOne()) {
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1}));
}

TEST(BackgroundThreadTest, RunOneRunsOneAtATime) {
  BackgroundThread background({}, /*has_no_thread=*/true);
  bool runs_another = true;
  background.Post([&] { runs_another = background.RunOne(); });
  background.Post([] {});
  EXPECT_TRUE(background.RunOne());
  EXPECT_FALSE(runs_another);
  EXPECT_TRUE(background.RunOne());
  background.Post([] { throw std::bad_alloc(); });
  background.Post([] {});
  EXPECT_THROW(background.RunOne(), std::bad_alloc);
  EXPECT_TRUE(background.RunOne());
  EXPECT_FALSE(background.RunOne());
}

}  // namespace
}  // namespace takt
