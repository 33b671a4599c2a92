// An NpuMonitor reports the speed, heat and health of an NPU to the job shop.
//
//   speed      the frequency, as part of the highest that was seen, while the
//              unit reports that heat slows it down, or cannot report that; an
//              idle unit at a low frequency is not slow. A lower speed is
//              reported at once, a higher one when it has lasted a second: a
//              unit at the edge of its limit does not flap.
//   heat       the pool is hot while heat slows it down.
//   health     a unit that is lost or in quarantine is not available. When its
//              quarantine is over it is probed, on a thread of `prober`; if the
//              probe succeeds, it is available again.
//
// Thread-safety: Stop() once, by any thread.
#ifndef TAKT_NPU_NPU_MONITOR_H_
#define TAKT_NPU_NPU_MONITOR_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/timer_service.h"
#include "exec/executor.h"
#include "npu/npu_unit.h"
#include "shop/job_shop.h"
#include "shop/resource_monitor.h"

namespace takt::npu {

class NpuMonitor final : public shop::ResourceMonitor {
 public:
  static constexpr ObjectType kType{"npu.monitor"};
  // A higher speed is reported when it has lasted this long: longer than the
  // oscillation of a control loop that keeps a temperature.
  static constexpr int64_t kRecoveryNs = 1'000'000'000;

  // `pool`: the unit's pool in the shop. `prober` is shut down after Stop().
  static Ref<NpuMonitor> Start(Ref<NpuUnit> unit, Ref<shop::JobShop> shop,
                               uint32_t pool, Ref<exec::Executor> prober,
                               std::shared_ptr<TimerService> timers);

 private:
  // Probes the unit on a thread of the prober.
  struct Probe final : exec::Job {
    uint32_t RunTiles(uint32_t begin, uint32_t end,
                      exec::Worker& worker) override;
    void Finish(exec::Worker& worker) override;
    NpuMonitor* monitor = nullptr;
  };

  NpuMonitor(Ref<NpuUnit> unit, Ref<shop::JobShop> shop, uint32_t pool,
             Ref<exec::Executor> prober, std::shared_ptr<TimerService> timers);
  void Poll() override;
  // Withdraws the reports from the shop.
  void OnStopped() override;
  void CheckHealth();
  // The speed in thousandths of the highest one, by the unit's telemetry.
  uint32_t ReadSpeed();
  void ReportNpuSpeed(uint32_t permille);
  void ReportHealth(bool is_well);

  const Ref<NpuUnit> unit_;
  const uint32_t pool_;
  const Ref<exec::Executor> prober_;
  Probe probe_;
  std::atomic<bool> is_probing_{false};  // probe_ is submitted.

  // Used by Poll() only:
  int64_t highest_hz_ = 0;
  int64_t throttled_ns_ = 0;
  bool is_throttled_ = false;
  // Since when it has been faster than reported, and its lowest speed since.
  int64_t faster_since_ns_ = 0;
  uint32_t faster_permille_ = 0;
  uint32_t permille_ = 1000;  // As reported.
  bool is_well_ = true;       // As reported.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_MONITOR_H_
