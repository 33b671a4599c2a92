#include "exec/speed_sensor.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace takt::exec {

absl::optional<uint64_t> SpeedSensor::Read(uint32_t cpu,
                                           const char* name) const {
  std::ifstream file(
      absl::StrCat(root_, "/devices/system/cpu/cpu", cpu, "/cpufreq/", name));
  std::string text;
  uint64_t value = 0;
  if (!std::getline(file, text) || !absl::SimpleAtoi(text, &value)) {
    return absl::nullopt;
  }
  return value;
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

}  // namespace takt::exec
