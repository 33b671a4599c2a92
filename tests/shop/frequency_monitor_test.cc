#include "shop/frequency_monitor.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/shop/test_support.h"

namespace takt::shop {
namespace {

class SpeedWatchTest : public JobShopTest {
 protected:
  SpeedWatchTest() {
    std::string name = testing::TempDir() + "/takt_speed_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~SpeedWatchTest() override { std::filesystem::remove_all(root_); }

  // Of every processor that the process may use.
  void Limit(int khz) {
    topology::AllowedCpus().ForEach([&](uint32_t cpu) {
      const std::string folder =
          root_ + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq";
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/scaling_max_freq") << khz << "\n";
      std::ofstream(folder + "/cpuinfo_max_freq") << 1000 << "\n";
    });
  }
  // Until the mode is `mode`; how long it took.
  int64_t AwaitMode(sched::Mode mode) {
    const int64_t start_ns = now();
    while (shop().mode() != mode && now() - start_ns < 10'000'000'000) {
      Advance(1'000'000);
      timers().FireDue(now());
    }
    return now() - start_ns;
  }

  std::string root_;
};

TEST_F(SpeedWatchTest, TheModeFollowsTheFrequencyWithin250Ms) {
  MakeShop(2);
  Limit(1000);
  auto watch =
      FrequencyMonitor::Start(Ref<JobShop>::Retain(&shop()), shared_timers(),
                              topology::SpeedSensor(root_));
  ASSERT_NE(watch, nullptr);
  Limit(600);
  EXPECT_LE(AwaitMode(sched::Mode::kHot), 250'000'000);
  EXPECT_EQ(shop().resources()[0].speed_permille, 600u);
  // A frequency on the edge does not make it flap.
  const uint64_t changes = shop().statistics().mode_change_count;
  for (int i = 0; i < 20; ++i) {
    Limit(i % 2 == 0 ? 1000 : 600);
    for (int step = 0; step < 10; ++step) {
      Advance(10'000'000);
      timers().FireDue(now());
    }
  }
  EXPECT_EQ(shop().statistics().mode_change_count, changes);
  Limit(1000);
  AwaitMode(sched::Mode::kNominal);
  EXPECT_EQ(shop().mode(), sched::Mode::kNominal);
  watch->Stop();
}

TEST_F(SpeedWatchTest, TheModeFollowsTheTemperatureWithin250Ms) {
  MakeShop(2);
  const auto heat = [&](int millicelsius) {
    const std::string folder = root_ + "/class/thermal/thermal_zone0/";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "temp") << millicelsius << "\n";
    std::ofstream(folder + "trip_point_0_type") << "passive\n";
    std::ofstream(folder + "trip_point_0_temp") << "80000\n";
  };
  heat(50'000);
  auto watch =
      FrequencyMonitor::Start(Ref<JobShop>::Retain(&shop()), shared_timers(),
                              topology::SpeedSensor(root_));
  ASSERT_NE(watch, nullptr);
  heat(81'000);
  EXPECT_LE(AwaitMode(sched::Mode::kHot), 250'000'000);
  // Around the trip point it does not flap.
  const uint64_t changes = shop().statistics().mode_change_count;
  for (int i = 0; i < 20; ++i) {
    heat(i % 2 == 0 ? 79'000 : 81'000);
    for (int step = 0; step < 10; ++step) {
      Advance(10'000'000);
      timers().FireDue(now());
    }
  }
  EXPECT_EQ(shop().statistics().mode_change_count, changes);
  heat(50'000);
  AwaitMode(sched::Mode::kNominal);
  EXPECT_EQ(shop().mode(), sched::Mode::kNominal);
  // The application's word counts as much.
  shop().SetHot(JobShop::HeatSource::kApplication, true);
  EXPECT_LE(AwaitMode(sched::Mode::kHot), 250'000'000);
  watch->Stop();
}

TEST_F(SpeedWatchTest, AMachineThatDoesNotSayIsNotWatched) {
  MakeShop(2);
  EXPECT_EQ(
      FrequencyMonitor::Start(Ref<JobShop>::Retain(&shop()), shared_timers(),
                              topology::SpeedSensor(root_)),
      nullptr);
  EXPECT_EQ(timers().next_deadline_ns(), kInfiniteFuture);
}

TEST_F(SpeedWatchTest, StopsForGood) {
  MakeShop(1);
  Limit(1000);
  auto watch =
      FrequencyMonitor::Start(Ref<JobShop>::Retain(&shop()), shared_timers(),
                              topology::SpeedSensor(root_));
  watch->Stop();
  EXPECT_EQ(timers().next_deadline_ns(), kInfiniteFuture);
}

}  // namespace
}  // namespace takt::shop
