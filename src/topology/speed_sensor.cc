#include "topology/speed_sensor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text_file.h"

namespace takt::topology {
namespace {

constexpr uint32_t kZoneCountMax = 64;
constexpr uint32_t kTripCountMax = 16;

}  // namespace

absl::optional<uint64_t> SpeedSensor::Read(uint32_t cpu,
                                           const char* name) const {
  return ReadNumberFile<uint64_t>(
      absl::StrCat(root_, "/devices/system/cpu/cpu", cpu, "/cpufreq/", name));
}

absl::optional<bool> SpeedSensor::ReadZone(uint32_t zone) const {
  const std::string folder =
      absl::StrCat(root_, "/class/thermal/thermal_zone", zone, "/");
  const auto now_mc = ReadNumberFile<int64_t>(folder + "temp");
  if (!now_mc.has_value()) return absl::nullopt;
  absl::optional<int64_t> lowest_mc;
  for (uint32_t i = 0; i < kTripCountMax; ++i) {
    const std::string trip = absl::StrCat(folder, "trip_point_", i, "_");
    const std::string type = ReadFirstLine(trip + "type");
    if (type.empty()) break;
    const auto at_mc = ReadNumberFile<int64_t>(trip + "temp");
    // One that is off stands at 0, or below.
    if ((type != "passive" && type != "hot") || !at_mc.has_value() ||
        *at_mc <= 0) {
      continue;
    }
    lowest_mc = std::min(lowest_mc.value_or(*at_mc), *at_mc);
  }
  if (!lowest_mc.has_value()) return absl::nullopt;
  return *now_mc >= *lowest_mc;
}

absl::optional<bool> SpeedSensor::ReadIsHot() const {
  absl::optional<bool> is_hot;
  for (uint32_t i = 0; i < kZoneCountMax; ++i) {
    const auto zone = ReadZone(i);
    if (zone.has_value()) is_hot = is_hot.value_or(false) || *zone;
  }
  return is_hot;
}

absl::optional<uint32_t> SpeedSensor::ReadPermille(const CpuSet& cpus) const {
  absl::optional<uint32_t> slowest;
  cpus.ForEach([&](uint32_t cpu) {
    const auto limit_khz = Read(cpu, "scaling_max_freq");
    const auto most_khz = Read(cpu, "cpuinfo_max_freq");
    // 1 THz is nonsense, and would overflow.
    constexpr uint64_t kMaxKhz = 1'000'000'000;
    if (!limit_khz.has_value() || !most_khz.has_value() || *most_khz == 0 ||
        *most_khz > kMaxKhz) {
      return;
    }
    const auto permille = static_cast<uint32_t>(std::clamp<uint64_t>(
        std::min(*limit_khz, *most_khz) * 1000 / *most_khz, 1, 1000));
    slowest = std::min(slowest.value_or(1000), permille);
  });
  return slowest;
}

}  // namespace takt::topology
