#include "base/sleeper.h"

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(SleeperTest, AFlagRaisedBeforeEndsTheSleepAtOnce) {
  Sleeper sleeper;
  sleeper.Raise(2);
  EXPECT_EQ(sleeper.Sleep(kInfiniteFuture), 2u);
  EXPECT_EQ(sleeper.raised(), 2u);
  sleeper.Take(2);
  EXPECT_EQ(sleeper.raised(), 0u);
}

TEST(SleeperTest, FlagsAddUp) {
  Sleeper sleeper;
  sleeper.Raise(1);
  sleeper.Raise(4);
  EXPECT_EQ(sleeper.Sleep(0), 5u);
  sleeper.Take(1);
  EXPECT_EQ(sleeper.raised(), 4u);
}

TEST(SleeperTest, SleepEndsAtItsDeadline) {
  Sleeper sleeper;
  EXPECT_EQ(sleeper.Sleep(0), 0u);
  const int64_t deadline_ns = NowNs() + 1'000'000;
  EXPECT_EQ(sleeper.Sleep(deadline_ns), 0u);
  EXPECT_GE(NowNs(), deadline_ns);
}

TEST(SleeperTest, NoFlagIsLostBetweenThreads) {
  constexpr int kRounds = 20'000;
  Sleeper ping, pong;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(ping.Sleep(kInfiniteFuture), 1u);
      ping.Take(1);
      pong.Raise(1);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ping.Raise(1);
    ASSERT_EQ(pong.Sleep(kInfiniteFuture), 1u);
    pong.Take(1);
  }
  other.join();
  EXPECT_EQ(ping.raised(), 0u);
  EXPECT_EQ(pong.raised(), 0u);
}

}  // namespace
}  // namespace takt
