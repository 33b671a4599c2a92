#include "base/thread_reservation.h"

#include <errno.h>
#include <time.h>

#include <thread>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

int64_t ThreadTimeNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

TEST(ThreadReservationTest, AnOrdinaryThreadHasNone) {
  EXPECT_FALSE(ReadReservation().is_set());
}

TEST(ThreadReservationTest, AThreadGetsItsBudgetAndNoMore) {
  std::thread([] {
    constexpr ThreadReservation kQuarter = {5'000'000, 20'000'000};
    const int error = Reserve(kQuarter);
    if (error == EPERM) GTEST_SKIP() << "SCHED_DEADLINE is not permitted";
    ASSERT_EQ(error, 0);
    EXPECT_EQ(ReadReservation().budget_ns, kQuarter.budget_ns);
    EXPECT_EQ(ReadReservation().period_ns, kQuarter.period_ns);
    std::thread([] { EXPECT_FALSE(ReadReservation().is_set()); }).join();
    // 30 ms of work are six budgets: five periods at least.
    const int64_t begin_ns = NowNs();
    const int64_t begin_ran_ns = ThreadTimeNs();
    while (ThreadTimeNs() - begin_ran_ns < 30'000'000) {
    }
    EXPECT_GE(NowNs() - begin_ns, 4 * kQuarter.period_ns);
  }).join();
}

TEST(ThreadReservationTest, APeriodBelowTheSystemsLeastIsRefused) {
  std::thread([] {
    const int error = Reserve({2'000, 10'000});
    EXPECT_TRUE(error == EINVAL || error == EPERM) << error;
    EXPECT_FALSE(ReadReservation().is_set());
  }).join();
}

}  // namespace
}  // namespace takt
