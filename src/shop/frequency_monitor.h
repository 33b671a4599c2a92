// A FrequencyMonitor tells a job shop how fast its cores run and whether they
// are hot: it reads the sensor every 100 ms, so that the shop's mode follows
// within 250 ms. Where workers are not kept in place, the slowest of the
// machine's processors says it.
//
// Thread-safety: Stop() once, by any thread.
#ifndef TAKT_SHOP_FREQUENCY_MONITOR_H_
#define TAKT_SHOP_FREQUENCY_MONITOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cpu_set.h"
#include "base/periodic_poller.h"
#include "base/timer_service.h"
#include "shop/job_shop.h"
#include "topology/speed_sensor.h"

namespace takt::shop {

class FrequencyMonitor final : public PeriodicPoller {
 public:
  static constexpr ObjectType kType{"shop.speed_watch"};
  static constexpr int64_t kIntervalNs = 100'000'000;

  // Null if the machine says neither how fast nor how hot it is.
  static Ref<FrequencyMonitor> Start(Ref<JobShop> shop,
                                     std::shared_ptr<TimerService> timers,
                                     topology::SpeedSensor sensor);

 private:
  struct PoolSpeed {
    uint32_t pool;
    CpuSet cpus;
    uint32_t permille = 1000;  // As told.
  };

  FrequencyMonitor(Ref<JobShop> shop, std::shared_ptr<TimerService> timers,
                   topology::SpeedSensor sensor);
  int64_t now_ns() const override { return shop_->now_ns(); }
  void Poll() override;

  const Ref<JobShop> shop_;
  const topology::SpeedSensor sensor_;
  // Of who looks:
  std::vector<PoolSpeed> pools_;
  bool has_thermometer_ = false;
  bool is_hot_ = false;  // As told.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_FREQUENCY_MONITOR_H_
