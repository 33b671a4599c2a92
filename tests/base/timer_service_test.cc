// The service of real time, tested without looking at the time: a deadline in
// the past is due, one in the infinite future never is.
#include "base/timer_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"
#include "tests/support/bounded_wait.h"
#include "tests/support/notification.h"

namespace takt {
namespace {

struct TestTimer : TimerService::Timer {
  TestTimer() {
    fire = [](TimerService::Timer* timer) {
      auto* self = static_cast<TestTimer*>(timer);
      // Moved: the thread that waits may destroy the timer at once.
      std::shared_ptr<TimerService> last = std::move(self->last_service);
      self->fired.Notify();
    };
  }
  Notification fired;
  std::shared_ptr<TimerService> last_service;
};

constexpr int64_t kFarNs = kInfiniteFuture - 1;

TEST(TimerServiceTest, FiresADueTimer) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer timer;
  service->Arm(&timer, 0);
  timer.fired.WaitForNotification();
  EXPECT_FALSE(service->Cancel(&timer));
}

TEST(TimerServiceTest, FiresAnEarlierTimerBeforeALaterOne) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer far;
  TestTimer soon;
  service->Arm(&far, kFarNs);
  service->Arm(&soon, DeadlineAfter(NowNs(), 1'000'000));
  soon.fired.WaitForNotification();
  EXPECT_GE(NowNs(), soon.deadline_ns);
  EXPECT_FALSE(far.fired.HasBeenNotified());
  EXPECT_TRUE(service->Cancel(&far));
}

TEST(TimerServiceTest, CancelSaysWhetherItWasInTime) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer timer;
  EXPECT_FALSE(service->Cancel(&timer));  // Never armed.
  service->Arm(&timer, kFarNs);
  EXPECT_TRUE(service->Cancel(&timer));
  EXPECT_FALSE(service->Cancel(&timer));
  service->Arm(&timer, 0);  // Idle again.
  timer.fired.WaitForNotification();
}

TEST(TimerServiceTest, ArmedTimersDoNotFireAfterDestruction) {
  std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer timer;
  service->Arm(&timer, kFarNs);
  service.reset();
  EXPECT_FALSE(timer.fired.HasBeenNotified());
}

TEST(TimerServiceTest, WithoutTimersItStartsNoThread) {
  bool has_started = false;
  TimerThreadOptions options;
  options.fifo_priority = 1;  // The thread reports that as it starts.
  options.on_priority = [&](int, int) { has_started = true; };
  CreateTimerThread(options).reset();  // Joins the thread, if there is one.
  EXPECT_FALSE(has_started);
}

TEST(TimerServiceTest, ARefusedThreadIsReported) {
  int refused_count = 0;
  TimerThreadOptions options;
  options.on_refused = [&] { ++refused_count; };
  options.hooks.create = [](void*, uint32_t, const char*, void (*)(void*),
                            void*, void**) { return false; };
  const std::shared_ptr<TimerService> service = CreateTimerThread(options);
  EXPECT_EQ(refused_count, 1);
  TestTimer timer;
  service->Arm(&timer, 0);
  EXPECT_EQ(service->FireDue(), 1u);
  EXPECT_TRUE(timer.fired.HasBeenNotified());
  EXPECT_EQ(refused_count, 1) << "an application is asked once";
}

// A thread that spins for a timer fires an earlier one that is armed meanwhile,
// and ends with its service.
TEST(TimerServiceTest, ASpinningThreadSeesAnEarlierTimer) {
  TimerThreadOptions options;
  options.spin_ns = kInfiniteFuture / 4;
  options.fifo_priority = 1;  // Granted or not.
  const std::shared_ptr<TimerService> service = CreateTimerThread(options);
  TestTimer far, soon, later;
  service->Arm(&far, NowNs() + options.spin_ns / 2);
  service->Arm(&soon, DeadlineAfter(NowNs(), 1'000'000));
  soon.fired.WaitForNotification();
  EXPECT_GE(NowNs(), soon.deadline_ns);
  service->Arm(&later, 0);
  later.fired.WaitForNotification();
  EXPECT_FALSE(far.fired.HasBeenNotified());
}

// The last reference to the service may go on its own thread.
TEST(TimerServiceTest, ATimerMayDropTheLastReferenceToTheService) {
  std::shared_ptr<TimerService> service = CreateTimerThread();
  const std::weak_ptr<TimerService> watched = service;
  TestTimer timer;
  TimerService* borrowed = service.get();
  timer.last_service = std::move(service);
  borrowed->Arm(&timer, 0);
  timer.fired.WaitForNotification();
  EXPECT_TRUE(BecomesTrue([&] { return watched.expired(); }));
}

// Both timers are due long after the test, which gives the time itself.
TEST(TimerServiceTest, FireAnywhereFiresOnlyTimersThatAllowIt) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer anywhere, own;
  anywhere.fires_anywhere = true;
  service->Arm(&own, kFarNs - 1);
  service->Arm(&anywhere, kFarNs);
  EXPECT_FALSE(service->FireAnywhere(kFarNs - 1));
  EXPECT_TRUE(service->FireAnywhere(kFarNs));
  EXPECT_TRUE(anywhere.fired.HasBeenNotified());
  EXPECT_FALSE(service->FireAnywhere(kFarNs)) << "it has fired";
  EXPECT_FALSE(own.fired.HasBeenNotified());
  EXPECT_FALSE(service->Cancel(&anywhere));
  EXPECT_TRUE(service->Cancel(&own));
}

TEST(TimerServiceTest, TheServicesThreadFiresThoseTimersToo) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  TestTimer timer;
  timer.fires_anywhere = true;
  service->Arm(&timer, DeadlineAfter(NowNs(), 1'000));
  timer.fired.WaitForNotification();
  service->Arm(&timer, kFarNs);
  EXPECT_TRUE(service->Cancel(&timer));
  EXPECT_FALSE(service->FireAnywhere(kFarNs));
}

TEST(TimerServiceTest, FireOverdueFiresTimersThatTheThreadHasMissed) {
  TimerThreadOptions options;
  options.has_no_thread = true;
  const std::shared_ptr<TimerService> service = CreateTimerThread(options);
  EXPECT_FALSE(service->FireOverdue());
  TestTimer own, soon, missed;
  soon.fires_anywhere = missed.fires_anywhere = true;
  service->Arm(&own, 0);
  service->Arm(&soon, kFarNs);
  EXPECT_FALSE(service->FireOverdue());
  service->Arm(&missed, NowNs() - TimerService::kOverdueNs);
  EXPECT_TRUE(service->FireOverdue());
  EXPECT_TRUE(missed.fired.HasBeenNotified());
  EXPECT_FALSE(service->FireOverdue());
  EXPECT_TRUE(service->Cancel(&own));
  EXPECT_TRUE(service->Cancel(&soon));
}

// Several threads arm and cancel: each timer either fires or is cancelled.
TEST(TimerServiceTest, EachTimerFiresOrIsCancelled) {
  const std::shared_ptr<TimerService> service = CreateTimerThread();
  constexpr int kTimers = 2000;
  std::vector<std::unique_ptr<TestTimer>> timers;
  for (int i = 0; i < kTimers; ++i) {
    timers.push_back(std::make_unique<TestTimer>());
    service->Arm(timers.back().get(), DeadlineAfter(NowNs(), i));
  }
  int cancelled = 0;
  for (auto& timer : timers) {
    if (service->Cancel(timer.get())) {
      ++cancelled;
      EXPECT_FALSE(timer->fired.HasBeenNotified());
    } else {
      timer->fired.WaitForNotification();
    }
  }
  int fired = 0;
  for (auto& timer : timers) fired += timer->fired.HasBeenNotified() ? 1 : 0;
  EXPECT_EQ(fired + cancelled, kTimers);
}

}  // namespace
}  // namespace takt
