#include "shop/speed_watch.h"

#include <utility>

#include "base/clock.h"
#include "exec/topology.h"

namespace takt::shop {

Ref<SpeedWatch> SpeedWatch::Start(Ref<JobShop> shop,
                                  std::shared_ptr<TimerService> timers,
                                  exec::SpeedSensor sensor) {
  auto watch = Ref<SpeedWatch>::Adopt(
      new SpeedWatch(std::move(shop), std::move(timers), std::move(sensor)));
  if (watch->pools_.empty() && !watch->has_thermometer_) return nullptr;
  watch->Look();
  MutexLock lock(&watch->mutex_);
  watch->Retain();  // The timer's.
  watch->timers_->Arm(&watch->timer_, watch->shop_->now_ns() + kIntervalNs);
  return watch;
}

SpeedWatch::SpeedWatch(Ref<JobShop> shop, std::shared_ptr<TimerService> timers,
                       exec::SpeedSensor sensor)
    : Object(&kType),
      shop_(std::move(shop)),
      timers_(std::move(timers)),
      sensor_(std::move(sensor)) {
  timer_.watch = this;
  timer_.fire = &SpeedWatch::OnTimer;
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
    if (speed.cpus.empty()) speed.cpus = exec::AllowedCpus();
    if (sensor_.ReadPermille(speed.cpus).has_value()) {
      pools_.push_back(std::move(speed));
    }
  }
  has_thermometer_ = sensor_.ReadIsHot().has_value();
}

void SpeedWatch::Look() {
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

void SpeedWatch::OnTimer(TimerService::Timer* timer) {
  const auto self = Ref<SpeedWatch>::Adopt(static_cast<Timer*>(timer)->watch);
  self->Look();
  MutexLock lock(&self->mutex_);
  if (self->is_stopped_) return;
  self->Retain();
  self->timers_->Arm(timer, self->shop_->now_ns() + kIntervalNs);
}

void SpeedWatch::Stop() {
  bool is_cancelled = false;
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    is_cancelled = timers_->Cancel(&timer_);
  }
  if (is_cancelled) Release();
}

}  // namespace takt::shop
