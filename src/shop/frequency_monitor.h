// A FrequencyMonitor reports to a job shop the speed of its cores and whether
// they are hot. If workers are not pinned to cores, the speed of the machine's
// slowest processor counts.
//
// Thread-safety: Stop() once, by any thread.
#ifndef TAKT_SHOP_FREQUENCY_MONITOR_H_
#define TAKT_SHOP_FREQUENCY_MONITOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cpu_set.h"
#include "base/timer_service.h"
#include "shop/job_shop.h"
#include "shop/resource_monitor.h"
#include "topology/speed_sensor.h"

namespace takt::shop {

class FrequencyMonitor final : public ResourceMonitor {
 public:
  static constexpr ObjectType kType{"shop.frequency_monitor"};

  // Null if the machine reports neither speed nor heat.
  static Ref<FrequencyMonitor> Start(Ref<JobShop> shop,
                                     std::shared_ptr<TimerService> timers,
                                     topology::SpeedSensor sensor);

 private:
  struct PoolSpeed {
    uint32_t pool;
    CpuSet cpus;
    uint32_t permille = 1000;  // As reported.
  };

  FrequencyMonitor(Ref<JobShop> shop, std::shared_ptr<TimerService> timers,
                   topology::SpeedSensor sensor);
  void Poll() override;

  const topology::SpeedSensor sensor_;
  // Used by Poll() only:
  std::vector<PoolSpeed> pools_;
  bool has_thermometer_ = false;
  bool is_hot_ = false;  // As reported.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_FREQUENCY_MONITOR_H_
