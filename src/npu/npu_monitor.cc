#include "npu/npu_monitor.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"

namespace takt::npu {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

}  // namespace

uint32_t NpuMonitor::Probe::RunTiles(uint32_t, uint32_t end, exec::Worker&) {
  // One that finds no memory is due again.
  TAKT_TRY { monitor->unit_->ProbeIfDue(); }
  TAKT_CATCH(const std::bad_alloc&) {}
  return end;
}

void NpuMonitor::Probe::Finish(exec::Worker&) {
  const auto hold = Ref<NpuMonitor>::Adopt(monitor);  // Of CheckHealth().
  const bool was_probing =
      monitor->is_probing_.exchange(false, std::memory_order_release);
  TAKT_CHECK(was_probing);  // One probe at a time.
}

Ref<NpuMonitor> NpuMonitor::Start(Ref<NpuUnit> unit, Ref<shop::JobShop> shop,
                                  uint32_t pool, Ref<exec::Executor> prober,
                                  std::shared_ptr<TimerService> timers) {
  auto monitor = Ref<NpuMonitor>::Adopt(
      new NpuMonitor(std::move(unit), std::move(shop), pool, std::move(prober),
                     std::move(timers)));
  monitor->PeriodicPoller::Start();
  return monitor;
}

NpuMonitor::NpuMonitor(Ref<NpuUnit> unit, Ref<shop::JobShop> shop_in,
                       uint32_t pool, Ref<exec::Executor> prober,
                       std::shared_ptr<TimerService> timers)
    : ResourceMonitor(&kType, std::move(shop_in), std::move(timers)),
      unit_(std::move(unit)),
      pool_(pool),
      prober_(std::move(prober)) {
  probe_.monitor = this;
}

void NpuMonitor::OnStopped() {
  ReportNpuSpeed(1000);
  ReportHealth(true);
}

void NpuMonitor::Poll() {
  CheckHealth();
  const uint32_t permille = ReadSpeed();
  if (permille <= permille_) {
    faster_since_ns_ = 0;
    ReportNpuSpeed(permille);
    return;
  }
  const int64_t now_ns = shop().now_ns();
  if (faster_since_ns_ == 0) {
    faster_since_ns_ = now_ns;
    faster_permille_ = permille;
  }
  faster_permille_ = std::min(faster_permille_, permille);
  TAKT_CHECK(faster_permille_ > permille_);
  if (now_ns - faster_since_ns_ < kRecoveryNs) return;
  faster_since_ns_ = 0;
  ReportNpuSpeed(faster_permille_);
}

void NpuMonitor::ReportNpuSpeed(uint32_t permille) {
  TAKT_CHECK(permille >= 1 && permille <= 1000);
  if (ReportSpeed(pool_, permille, &permille_)) {
    shop().SetNpuHot(pool_, permille < 1000);
  }
}

void NpuMonitor::ReportHealth(bool is_well) {
  if (is_well == is_well_) return;
  shop().SetNpuWorks(pool_, is_well);
  is_well_ = is_well;
}

uint32_t NpuMonitor::ReadSpeed() {
  const takt_npu_telemetry_t telemetry = unit_->telemetry();
  const int64_t hz = telemetry.frequency_hz;
  if (hz <= 0) return permille_;  // Not known, or absurd.
  highest_hz_ = std::max(highest_hz_, hz);
  TAKT_CHECK(highest_hz_ >= hz);
  if (telemetry.throttled_ns == kUnknown) {
    is_throttled_ = hz < highest_hz_;
  } else {
    // Once throttled, the unit stays so until its frequency is back: an idle
    // unit that lowers its frequency without heat is not slow.
    is_throttled_ = hz < highest_hz_ &&
                    (is_throttled_ || telemetry.throttled_ns > throttled_ns_);
    throttled_ns_ = telemetry.throttled_ns;
  }
  if (!is_throttled_) return 1000;
  const double part =
      static_cast<double>(hz) / static_cast<double>(highest_hz_);
  return std::clamp(static_cast<uint32_t>(part * 1000), 1u, 1000u);
}

void NpuMonitor::CheckHealth() {
  const bool is_well = !unit_->is_quarantined();
  ReportHealth(is_well);
  if (is_well || !unit_->IsProbeDue() ||
      is_probing_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  Retain();  // While it is probed.
  prober_->Submit(&probe_);
}

}  // namespace takt::npu
