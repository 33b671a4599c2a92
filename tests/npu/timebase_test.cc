#include "npu/timebase.h"

#include <memory>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt::npu {
namespace {

constexpr uint32_t kFlag = 1;

struct Note {
  std::vector<int64_t>* times;
  Timebase* time;
  Sleeper* sleeper = nullptr;
};

void Write(void* argument) {
  auto* note = static_cast<Note*>(argument);
  note->times->push_back(note->time->NowNs());
  if (note->sleeper != nullptr) note->sleeper->Raise(kFlag);
}

TEST(VirtualTimeTest, TimePassesOnlyForAWaitingThread) {
  VirtualTime time;
  std::vector<int64_t> times;
  Sleeper sleeper;
  Note early{&times, &time};
  Note late{&times, &time, &sleeper};
  time.Schedule(200, &Write, &late);
  time.Schedule(100, &Write, &early);
  EXPECT_EQ(time.NowNs(), 0);
  EXPECT_TRUE(times.empty());
  EXPECT_FALSE(time.Wait(sleeper, kFlag, 150));
  EXPECT_EQ(time.NowNs(), 150);
  EXPECT_TRUE(time.Wait(sleeper, kFlag, kInfiniteFuture));
  EXPECT_EQ(time.NowNs(), 200);
  EXPECT_EQ(times, (std::vector<int64_t>{100, 200}));
}

TEST(VirtualTimeTest, CallsOfOneTimeKeepTheirOrder) {
  VirtualTime time;
  std::vector<int> order;
  struct Each {
    std::vector<int>* order;
    int number;
  } each[] = {{&order, 0}, {&order, 1}, {&order, 2}};
  for (Each& one : each) {
    time.Schedule(
        5,
        [](void* argument) {
          auto* given = static_cast<Each*>(argument);
          given->order->push_back(given->number);
        },
        &one);
  }
  time.Pass(4);
  EXPECT_TRUE(order.empty());
  time.Pass(1);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(time.NowNs(), 5);
}

TEST(TimebaseTest, DrainMakesTheCallsThatAreLeft) {
  std::vector<int64_t> times;
  const std::shared_ptr<Timebase> real = CreateRealTime(CreateTimerThread());
  Note note{&times, real.get()};
  real->Schedule(kInfiniteFuture - 1, &Write, &note);
  EXPECT_TRUE(times.empty());
  real->Drain();
  EXPECT_EQ(times.size(), 1u);
  VirtualTime simulated;
  Note other{&times, &simulated};
  simulated.Schedule(1000, &Write, &other);
  simulated.Drain();
  EXPECT_EQ(times.size(), 2u);
}

TEST(TimebaseTest, RealTimeWakesAWaitingThread) {
  const std::shared_ptr<Timebase> real = CreateRealTime(CreateTimerThread());
  std::vector<int64_t> times;
  Sleeper sleeper;
  Note note{&times, real.get(), &sleeper};
  const int64_t at_ns = real->NowNs() + 1000;
  real->Schedule(at_ns, &Write, &note);
  EXPECT_TRUE(real->Wait(sleeper, kFlag, kInfiniteFuture));
  real->Drain();
  EXPECT_GE(times.at(0), at_ns);
  sleeper.Take(kFlag);
  EXPECT_FALSE(real->Wait(sleeper, kFlag, real->NowNs()));
}

}  // namespace
}  // namespace takt::npu
