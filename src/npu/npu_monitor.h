// An NpuMonitor tells a job shop how the unit of one of its pools is: how fast
// heat lets it run, and whether it works at all. It looks every 100 ms, so that
// the shop's mode follows within 250 ms.
//
//   speed      the frequency, as part of the highest that was seen, while the
//              unit says that heat slows it down, or cannot say; an idle unit
//              of a low frequency is not slow. Less is told at once, more when
//              it has been so for a second: a unit on the edge does not flap.
//   heat       the pool is hot while it is slowed down by heat.
//   health     a unit that is lost or in quarantine is not available. When its
//              quarantine is over it is probed, on a thread of `prober`, and if
//              that goes well it is available again.
//
// Thread-safety: Stop() once, by any thread.
#ifndef TAKT_NPU_NPU_MONITOR_H_
#define TAKT_NPU_NPU_MONITOR_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/periodic_poller.h"
#include "base/timer_service.h"
#include "exec/executor.h"
#include "npu/npu_unit.h"
#include "shop/job_shop.h"

namespace takt::npu {

class NpuMonitor final : public PeriodicPoller {
 public:
  static constexpr ObjectType kType{"npu.unit_watch"};
  static constexpr int64_t kIntervalNs = 100'000'000;
  static constexpr int64_t kRecoveryNs = 1'000'000'000;

  // `pool` is what the shop knows the unit by. `prober` is shut down after
  // Stop().
  static Ref<NpuMonitor> Start(Ref<NpuUnit> unit, Ref<shop::JobShop> shop,
                               uint32_t pool, Ref<exec::Executor> prober,
                               std::shared_ptr<TimerService> timers);

 private:
  class ProbeJob;

  NpuMonitor(Ref<NpuUnit> unit, Ref<shop::JobShop> shop, uint32_t pool,
             Ref<exec::Executor> prober, std::shared_ptr<TimerService> timers);
  int64_t now_ns() const override { return shop_->now_ns(); }
  void Poll() override;
  // For the shop the unit is as good as new.
  void OnStopped() override;
  void LookAtHealth();
  // In thousandths, by the unit's telemetry.
  uint32_t ReadSpeed();
  void TellSpeed(uint32_t permille);
  void TellWell(bool is_well);

  const Ref<NpuUnit> unit_;
  const Ref<shop::JobShop> shop_;
  const uint32_t pool_;
  const Ref<exec::Executor> prober_;
  std::atomic<bool> is_probing_{false};

  // Of who looks:
  int64_t highest_hz_ = 0;
  int64_t throttled_ns_ = 0;
  bool is_throttled_ = false;
  // Since when it has been faster than was told, and how fast at the least.
  int64_t faster_since_ns_ = 0;
  uint32_t faster_permille_ = 0;
  uint32_t permille_ = 1000;  // As told.
  bool is_well_ = true;       // As told.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_MONITOR_H_
