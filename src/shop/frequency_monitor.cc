#include "shop/frequency_monitor.h"

#include <utility>

#include "base/clock.h"
#include "topology/topology.h"

namespace takt::shop {

Ref<FrequencyMonitor> FrequencyMonitor::Start(
    Ref<JobShop> shop, std::shared_ptr<TimerService> timers,
    topology::SpeedSensor sensor) {
  auto watch = Ref<FrequencyMonitor>::Adopt(new FrequencyMonitor(
      std::move(shop), std::move(timers), std::move(sensor)));
  if (watch->pools_.empty() && !watch->has_thermometer_) return nullptr;
  watch->PeriodicPoller::Start();
  return watch;
}

FrequencyMonitor::FrequencyMonitor(Ref<JobShop> shop,
                                   std::shared_ptr<TimerService> timers,
                                   topology::SpeedSensor sensor)
    : PeriodicPoller(&kType, std::move(timers), kIntervalNs),
      shop_(std::move(shop)),
      sensor_(std::move(sensor)) {
  const std::vector<ResourceState> resources = shop_->resources();
  for (uint32_t pool = 0; pool < shop_->machine().pools.size(); ++pool) {
    if (shop_->machine().pools[pool].kind != sched::ResourceKind::kCore) {
      continue;
    }
    PoolSpeed speed{pool, CpuSet()};
    for (uint32_t i = 0; i < resources.size(); ++i) {
      if (shop_->machine().PoolOf(i) == pool) {
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
    if (permille == speed.permille) continue;
    speed.permille = permille;
    shop_->SetSpeed(speed.pool, permille).IgnoreError();
  }
  if (!has_thermometer_) return;
  const bool is_hot = sensor_.ReadIsHot().value_or(is_hot_);
  if (is_hot == is_hot_) return;
  is_hot_ = is_hot;
  shop_->SetHot(JobShop::HeatSource::kSensor, is_hot);
}

}  // namespace takt::shop
