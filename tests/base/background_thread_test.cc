#include "base/background_thread.h"

#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(BackgroundTest, RunsWhatItIsGivenInOrderOnAThreadOfItsOwn) {
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

TEST(BackgroundTest, GoesWithoutEverHavingWorked) {
  BackgroundThread background;
}

TEST(BackgroundTest, WaitsForWhatRunsAndForgetsWhatWaits) {
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
    // Whoever ends it raises this before the others get their turn.
    background.Post([&] { ++count; });
    may_end.Raise(1);
  }
  EXPECT_TRUE(has_ended);
  EXPECT_LE(count, 1);
}

}  // namespace
}  // namespace takt
