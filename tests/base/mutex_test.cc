#include "base/mutex.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(MutexTest, OneThreadAtATime) {
  constexpr int kThreads = 4, kRounds = 20'000;
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        MutexLock lock(&mutex);
        ++count;
        // Now and then held for so long that other threads sleep.
        if (i % 1000 == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(CondVarTest, WaitersSeeWhatChanged) {
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 1000; ++i) {
      MutexLock lock(&mutex);
      while (turn % 2 != mine) changed.Wait(&mutex);
      ++turn;
      changed.Signal();
    }
  };
  std::thread even(play, 0), odd(play, 1);
  even.join();
  odd.join();
  EXPECT_EQ(turn, 2000);
}

TEST(CondVarTest, SignalAllWakesEveryWaiter) {
  Mutex mutex;
  CondVar changed;
  bool go = false;
  int done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 5; ++t) {
    threads.emplace_back([&] {
      MutexLock lock(&mutex);
      while (!go) changed.Wait(&mutex);
      ++done;
    });
  }
  {
    MutexLock lock(&mutex);
    go = true;
  }
  changed.SignalAll();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 5);
}

TEST(CondVarTest, WaitUntilEndsAtItsDeadline) {
  Mutex mutex;
  CondVar changed;
  const int64_t deadline_ns = NowNs() + 1'000'000;
  MutexLock lock(&mutex);
  while (NowNs() < deadline_ns) changed.WaitUntil(&mutex, deadline_ns);
  EXPECT_GE(NowNs(), deadline_ns);
}

}  // namespace
}  // namespace takt
