// A SpeedSensor reads the present limit of the processors' frequency, which
// heat, power and governors lower. It also reads whether the machine is so hot
// that the kernel is about to lower the limit.
//
// Thread-safety: any. Reads files: some ten microseconds for each processor.
#ifndef TAKT_TOPOLOGY_SPEED_SENSOR_H_
#define TAKT_TOPOLOGY_SPEED_SENSOR_H_

#include <cstdint>
#include <string>

#include "absl/types/optional.h"
#include "base/cpu_set.h"

namespace takt::topology {

class SpeedSensor {
 public:
  // `root` stands for /sys.
  explicit SpeedSensor(std::string root = "/sys") : root_(std::move(root)) {}

  // The frequency limit of the slowest of `cpus`, in thousandths of its highest
  // frequency: 1 to 1000. nullopt if the machine reports no value, or an
  // impossible one.
  absl::optional<uint32_t> ReadPermille(const CpuSet& cpus) const;
  // Whether a thermal zone has reached the temperature from which the kernel
  // slows something down to cool it (its lowest passive or hot trip point).
  // nullopt if no zone reports both temperatures.
  absl::optional<bool> ReadIsHot() const;

 private:
  absl::optional<uint64_t> Read(uint32_t cpu, const char* name) const;
  absl::optional<bool> ReadZone(uint32_t zone) const;

  const std::string root_;
};

}  // namespace takt::topology

#endif  // TAKT_TOPOLOGY_SPEED_SENSOR_H_
