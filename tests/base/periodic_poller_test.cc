// A poller polls at once and when its timer fires, and never after Stop().
// OnStopped() runs once, whichever thread stops the poller at whatever time.
#include "base/periodic_poller.h"

#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "gtest/gtest.h"

namespace takt {
namespace {

constexpr ObjectType kType{"test.look"};

// Holds one timer, which the test fires.
class FakeTimers : public TimerService {
 public:
  void Arm(Timer* timer, int64_t deadline_ns) override {
    armed = timer;
    due_ns = deadline_ns;
  }
  bool Cancel(Timer* timer) override {
    return std::exchange(armed, nullptr) == timer;
  }
  void Fire() {
    Timer* const timer = std::exchange(armed, nullptr);
    timer->fire(timer);
  }

  Timer* armed = nullptr;
  int64_t due_ns = 0;
};

struct Counts {
  int looks = 0;
  int ends = 0;
  int destroyed = 0;
};

class TestPoller final : public PeriodicPoller {
 public:
  TestPoller(std::shared_ptr<TimerService> timers, Counts* counts)
      : PeriodicPoller(&kType, std::move(timers), 10), counts_(*counts) {}
  ~TestPoller() override { ++counts_.destroyed; }

  using PeriodicPoller::Start;

  std::function<void()> meanwhile = [] {};

 private:
  int64_t now_ns() const override { return 100; }
  void Poll() override {
    ++counts_.looks;
    meanwhile();
  }
  void OnStopped() override { ++counts_.ends; }

  Counts& counts_;
};

class PeriodicPollerTest : public ::testing::Test {
 protected:
  Ref<TestPoller> Make() {
    return Ref<TestPoller>::Adopt(new TestPoller(timers_, &counts_));
  }

  const std::shared_ptr<FakeTimers> timers_ = std::make_shared<FakeTimers>();
  Counts counts_;
};

TEST_F(PeriodicPollerTest, PollsAtOnceAndAtEveryInterval) {
  Ref<TestPoller> look = Make();
  look->Start();
  EXPECT_EQ(counts_.looks, 1);
  EXPECT_EQ(timers_->due_ns, 110);
  timers_->Fire();
  timers_->Fire();
  EXPECT_EQ(counts_.looks, 3);
  EXPECT_EQ(counts_.ends, 0);
  look->Stop();
  EXPECT_EQ(counts_.ends, 1);
  EXPECT_EQ(timers_->armed, nullptr);
  look = nullptr;
  EXPECT_EQ(counts_.destroyed, 1);
}

TEST_F(PeriodicPollerTest, AStopDuringAPollEndsItAfterThatPoll) {
  Ref<TestPoller> look = Make();
  look->Start();
  look->meanwhile = [&] {
    look->Stop();
    EXPECT_EQ(counts_.ends, 0);
  };
  timers_->Fire();
  EXPECT_EQ(counts_.ends, 1);
  EXPECT_EQ(timers_->armed, nullptr);
  look = nullptr;
  EXPECT_EQ(counts_.destroyed, 1);
}

TEST_F(PeriodicPollerTest, APollWithoutMemoryIsFollowedByTheNext) {
  Ref<TestPoller> look = Make();
  look->Start();
  look->meanwhile = [] { throw std::bad_alloc(); };
  timers_->Fire();
  timers_->Fire();
  EXPECT_EQ(counts_.looks, 3);
  look->Stop();
  EXPECT_EQ(counts_.ends, 1);
  look = nullptr;
  EXPECT_EQ(counts_.destroyed, 1);
}

TEST_F(PeriodicPollerTest, TheTimerHoldsAReference) {
  Ref<TestPoller> look = Make();
  look->Start();
  TestPoller* const kept = look.get();
  look = nullptr;
  EXPECT_EQ(counts_.destroyed, 0);
  timers_->Fire();
  EXPECT_EQ(counts_.looks, 2);
  kept->Stop();
  EXPECT_EQ(counts_.destroyed, 1);
}

}  // namespace
}  // namespace takt
