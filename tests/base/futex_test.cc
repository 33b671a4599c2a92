#include "base/futex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"

namespace takt {
namespace {

TEST(FutexTest, DoesNotSleepOnAnotherValue) {
  std::atomic<uint32_t> word{1};
  FutexWait(&word, 0, kInfiniteFuture);  // Would not return.
  EXPECT_EQ(word.load(), 1u);
}

TEST(FutexTest, DoesNotSleepPastTheDeadline) {
  std::atomic<uint32_t> word{0};
  FutexWait(&word, 0, NowNs() - 1);
  FutexWait(&word, 0, 0);
  const int64_t deadline_ns = NowNs() + 1'000'000;
  // It may end early, by a signal for instance.
  while (NowNs() < deadline_ns) FutexWait(&word, 0, deadline_ns);
  EXPECT_EQ(word.load(), 0u) << "no thread woke it";
}

TEST(FutexTest, WakeEndsTheSleep) {
  std::atomic<uint32_t> word{0};
  std::thread sleeper([&word] {
    while (word.load() == 0) FutexWait(&word, 0, kInfiniteFuture);
  });
  word.store(1);
  FutexWake(&word, 1);
  sleeper.join();
  EXPECT_EQ(word.load(), 1u);
}

TEST(FutexTest, AWakeWithoutASleeperHasNoEffect) {
  std::atomic<uint32_t> word{0};
  FutexWake(&word, 1);
  EXPECT_EQ(word.load(), 0u);
}

}  // namespace
}  // namespace takt
