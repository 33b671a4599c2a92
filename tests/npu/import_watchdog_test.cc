#include "npu/import_watchdog.h"

#include <new>
#include <utility>

#include "gtest/gtest.h"

namespace takt::npu {
namespace {

// A simulated clock that may have no memory for a call.
class ShortTime final : public Timebase {
 public:
  int64_t NowNs() override { return time_.NowNs(); }
  void Schedule(int64_t at_ns, Call call, void* argument) override {
    if (std::exchange(is_short, false)) throw std::bad_alloc();
    time_.Schedule(at_ns, call, argument);
  }
  void Drain() override { time_.Drain(); }
  bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) override {
    return time_.Wait(sleeper, flag, deadline_ns);
  }
  void Pass(int64_t duration_ns) { time_.Pass(duration_ns); }

  bool is_short = false;  // The next call finds no memory.

 private:
  VirtualTime time_;
};

class ImportWatchdogTest : public ::testing::Test {
 protected:
  ImportWatchdogTest() : watchdog_(time_, [this] { ++cancel_count_; }) {}
  ~ImportWatchdogTest() override { time_.Drain(); }

  ShortTime time_;
  int cancel_count_ = 0;
  ImportWatchdog watchdog_;
};

TEST_F(ImportWatchdogTest, LeavesAnImportAloneThatEndsInTime) {
  watchdog_.Begin(100);
  time_.Pass(90);
  EXPECT_FALSE(watchdog_.End());
  time_.Pass(1'000);
  EXPECT_EQ(cancel_count_, 0);
}

TEST_F(ImportWatchdogTest, CancelsAnImportThatIsLateOnce) {
  watchdog_.Begin(100);
  time_.Pass(1'000);
  EXPECT_EQ(cancel_count_, 1);
  EXPECT_TRUE(watchdog_.End());
  watchdog_.Begin(100);
  EXPECT_FALSE(watchdog_.End());
}

TEST_F(ImportWatchdogTest, AnImportWithoutALimitIsNeverLate) {
  watchdog_.Begin(kInfiniteFuture);
  time_.Pass(1'000'000);
  EXPECT_FALSE(watchdog_.End());
  EXPECT_EQ(cancel_count_, 0);
}

TEST_F(ImportWatchdogTest, TheCheckOfAnEarlierImportServesTheNext) {
  watchdog_.Begin(100);
  EXPECT_FALSE(watchdog_.End());
  time_.Pass(50);
  watchdog_.Begin(100);  // Until 150; the check at 100 schedules one for then.
  time_.Pass(60);
  EXPECT_EQ(cancel_count_, 0);
  time_.Pass(60);
  EXPECT_EQ(cancel_count_, 1);
  EXPECT_TRUE(watchdog_.End());
}

TEST_F(ImportWatchdogTest, AnImportWithoutMemoryForItsCheckDoesNotBegin) {
  time_.is_short = true;
  EXPECT_THROW(watchdog_.Begin(100), std::bad_alloc);
  watchdog_.Begin(100);
  time_.Pass(1'000);
  EXPECT_EQ(cancel_count_, 1);
  EXPECT_TRUE(watchdog_.End());
}

TEST_F(ImportWatchdogTest, WithoutMemoryForTheNextCheckTheImportIsCancelled) {
  watchdog_.Begin(100);
  EXPECT_FALSE(watchdog_.End());
  time_.Pass(50);
  watchdog_.Begin(100);
  time_.is_short = true;
  time_.Pass(60);  // The check of the first import.
  EXPECT_EQ(cancel_count_, 1);
  EXPECT_TRUE(watchdog_.End());
  watchdog_.Begin(100);
  time_.Pass(90);
  EXPECT_FALSE(watchdog_.End());
}

}  // namespace
}  // namespace takt::npu
