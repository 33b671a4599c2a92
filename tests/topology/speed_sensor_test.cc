#include "topology/speed_sensor.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace takt::topology {
namespace {

// A pretended /sys.
class SpeedSensorTest : public testing::Test {
 protected:
  SpeedSensorTest() {
    std::string name = testing::TempDir() + "/takt_sys_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~SpeedSensorTest() override { std::filesystem::remove_all(root_); }

  void Write(uint32_t cpu, const std::string& name, const std::string& text) {
    const std::string folder =
        root_ + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name) << text << "\n";
  }
  void Limit(uint32_t cpu, const std::string& limit, const std::string& most) {
    Write(cpu, "scaling_max_freq", limit);
    Write(cpu, "cpuinfo_max_freq", most);
  }
  absl::optional<uint32_t> Permille(uint64_t mask) {
    return SpeedSensor(root_).ReadPermille(CpuSet::FromMask(mask));
  }

  std::string root_;
};

TEST_F(SpeedSensorTest, AZoneIsHotFromItsLowestTripOn) {
  const auto is_hot = [&] { return SpeedSensor(root_).ReadIsHot(); };
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string folder = root_ + "/class/thermal/thermal_zone0";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name) << text << "\n";
  };
  EXPECT_EQ(is_hot(), absl::nullopt);
  write("temp", "84000");
  EXPECT_EQ(is_hot(), absl::nullopt);  // Hot from when on?
  write("trip_point_0_type", "critical");
  write("trip_point_0_temp", "80000");
  EXPECT_EQ(is_hot(), absl::nullopt);
  write("trip_point_1_type", "hot");
  write("trip_point_1_temp", "95000");
  EXPECT_EQ(is_hot(), false);
  write("trip_point_2_type", "passive");
  write("trip_point_2_temp", "85000");
  EXPECT_EQ(is_hot(), false);
  write("temp", "85000");
  EXPECT_EQ(is_hot(), true);
  write("temp", "warm");
  EXPECT_EQ(is_hot(), absl::nullopt);
  write("temp", "85000");
  write("trip_point_2_temp", "-1");
  EXPECT_EQ(is_hot(), false);
}

TEST_F(SpeedSensorTest, TheSlowestCounts) {
  Limit(0, "1600000", "1600000");
  Limit(1, "800000", "1600000");
  EXPECT_EQ(Permille(0b01), 1000u);
  EXPECT_EQ(Permille(0b10), 500u);
  EXPECT_EQ(Permille(0b11), 500u);
}

TEST_F(SpeedSensorTest, MissingFilesAreUnknown) {
  EXPECT_EQ(Permille(0b1), absl::nullopt);
  EXPECT_EQ(Permille(0), absl::nullopt);
  Write(0, "scaling_max_freq", "1600000");
  EXPECT_EQ(Permille(0b1), absl::nullopt);
  Limit(1, "400", "800");
  EXPECT_EQ(Permille(0b11), 500u);
}

TEST_F(SpeedSensorTest, RejectsNonsense) {
  Limit(0, "many", "1600000");
  Limit(1, "5", "0");
  Limit(2, "", "");
  Limit(3, "1", "18446744073709551615");
  Limit(4, "-5", "100");
  EXPECT_EQ(Permille(0b11111), absl::nullopt);
  Limit(5, "3000000", "1600000");
  EXPECT_EQ(Permille(0b100000), 1000u);
  Limit(6, "0", "1600000");
  EXPECT_EQ(Permille(0b1000000), 1u);
}

}  // namespace
}  // namespace takt::topology
