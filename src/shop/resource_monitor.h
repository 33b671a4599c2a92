// A ResourceMonitor polls resources of a job shop and reports changes of their
// speed, their heat and their health.
//
// Thread-safety: Stop() once, by any thread.
#ifndef TAKT_SHOP_RESOURCE_MONITOR_H_
#define TAKT_SHOP_RESOURCE_MONITOR_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/periodic_poller.h"
#include "base/timer_service.h"
#include "shop/job_shop.h"

namespace takt::shop {

class ResourceMonitor : public PeriodicPoller {
 public:
  // With this interval the mode of the shop follows a change within 250 ms,
  // even if one poll is late.
  static constexpr int64_t kIntervalNs = 100'000'000;

 protected:
  ResourceMonitor(const ObjectType* type, Ref<JobShop> shop,
                  std::shared_ptr<TimerService> timers)
      : PeriodicPoller(type, std::move(timers), kIntervalNs),
        shop_(std::move(shop)) {
    TAKT_CHECK(shop_ != nullptr);
  }

  JobShop& shop() const { return *shop_; }
  int64_t now_ns() const final { return shop_->now_ns(); }

  // Reports the speed of a pool, in thousandths of the nominal speed, if it
  // differs from *reported. Returns whether it differs.
  bool ReportSpeed(uint32_t pool, uint32_t permille, uint32_t* reported) {
    TAKT_DCHECK(permille > 0);
    if (permille == *reported) return false;
    shop_->SetSpeed(pool, permille).IgnoreError();
    *reported = permille;
    return true;
  }

 private:
  const Ref<JobShop> shop_;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_RESOURCE_MONITOR_H_
