#include "npu/import_watchdog.h"

#include "gtest/gtest.h"

namespace takt::npu {
namespace {

class ImportWatchdogTest : public ::testing::Test {
 protected:
  ImportWatchdogTest() : watchdog_(time_, [this] { ++cancel_count_; }) {}
  ~ImportWatchdogTest() override { time_.Drain(); }

  VirtualTime time_;
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

}  // namespace
}  // namespace takt::npu
