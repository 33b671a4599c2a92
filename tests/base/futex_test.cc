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
  FutexWait(&word, 0, kInfiniteFuture);
}

TEST(FutexTest, DoesNotSleepPastTheDeadline) {
  std::atomic<uint32_t> word{0};
  FutexWait(&word, 0, NowNs() - 1);
  FutexWait(&word, 0, 0);
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

TEST(FutexTest, WakeOfNobodyIsNothing) {
  std::atomic<uint32_t> word{0};
  FutexWake(&word, 1);
  EXPECT_EQ(word.load(), 0u);
}

}  // namespace
}  // namespace takt
