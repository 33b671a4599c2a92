#include "shop/frequency_monitor.h"

#include <utility>

#include "base/clock.h"
#include "topology/topology.h"

namespace takt::shop {

Ref<FrequencyMonitor> FrequencyMonitor::Start(
    Ref<JobShop> shop, std::shared_ptr<TimerService> timers,
    topology::SpeedSensor sensor) {
  auto monitor = Ref<FrequencyMonitor>::Adopt(new FrequencyMonitor(
      std::move(shop), std::move(timers), std::move(sensor)));
  if (monitor->pools_.empty() && !monitor->has_thermometer_) return nullptr;
  monitor->PeriodicPoller::Start();
  return monitor;
}

FrequencyMonitor::FrequencyMonitor(Ref<JobShop> shop_in,
                                   std::shared_ptr<TimerService> timers,
                                   topology::SpeedSensor sensor)
    : ResourceMonitor(&kType, std::move(shop_in), std::move(timers)),
      sensor_(std::move(sensor)) {
  const std::vector<ResourceState> resources = shop().resources();
  for (uint32_t pool = 0; pool < shop().machine().pools.size(); ++pool) {
    if (shop().machine().pools[pool].kind != sched::ResourceKind::kCore) {
      continue;
    }
    PoolSpeed speed{pool, CpuSet()};
    for (uint32_t i = 0; i < resources.size(); ++i) {
      if (shop().machine().PoolOf(i) == pool) {
        speed.cpus = speed.cpus | resources[i].cpus;
      }
    }
    if (speed.cpus.empty()) speed.cpus = topology::AllowedCpus();
    if (sensor_.ReadPermille(speed.cpus).has_value()) {
      pools_.push_back(std::move(speed));
    }
  }
  has_thermometer_ = sensor_.ReadIsHot().has_value();
}

void FrequencyMonitor::Poll() {
  for (PoolSpeed& speed : pools_) {
    const uint32_t permille =
        sensor_.ReadPermille(speed.cpus).value_or(speed.permille);
    ReportSpeed(speed.pool, permille, &speed.permille);
  }
  if (!has_thermometer_) return;
  const bool is_hot = sensor_.ReadIsHot().value_or(is_hot_);
  if (is_hot == is_hot_) return;
  shop().SetHot(JobShop::HeatSource::kSensor, is_hot);
  is_hot_ = is_hot;
}

}  // namespace takt::shop
