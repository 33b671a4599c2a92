#include "npu/npu_monitor.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace takt::npu {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

}  // namespace

// Owns itself while it is submitted.
class NpuMonitor::ProbeJob final : public exec::Job {
 public:
  explicit ProbeJob(NpuMonitor* watch)
      : watch_(Ref<NpuMonitor>::Retain(watch)) {}

  uint32_t RunTiles(uint32_t, uint32_t end, exec::Worker&) override {
    watch_->unit_->ProbeIfDue();
    return end;
  }
  void Finish(exec::Worker&) override {
    watch_->is_probing_.store(false, std::memory_order_release);
    delete this;
  }

 private:
  const Ref<NpuMonitor> watch_;
};

Ref<NpuMonitor> NpuMonitor::Start(Ref<NpuUnit> unit, Ref<shop::JobShop> shop,
                                  uint32_t pool, Ref<exec::Executor> prober,
                                  std::shared_ptr<TimerService> timers) {
  auto watch = Ref<NpuMonitor>::Adopt(
      new NpuMonitor(std::move(unit), std::move(shop), pool, std::move(prober),
                     std::move(timers)));
  watch->PeriodicPoller::Start();
  return watch;
}

NpuMonitor::NpuMonitor(Ref<NpuUnit> unit, Ref<shop::JobShop> shop,
                       uint32_t pool, Ref<exec::Executor> prober,
                       std::shared_ptr<TimerService> timers)
    : PeriodicPoller(&kType, std::move(timers), kIntervalNs),
      unit_(std::move(unit)),
      shop_(std::move(shop)),
      pool_(pool),
      prober_(std::move(prober)) {}

void NpuMonitor::OnStopped() {
  TellSpeed(1000);
  TellWell(true);
}

void NpuMonitor::Poll() {
  LookAtHealth();
  const uint32_t permille = ReadSpeed();
  if (permille <= permille_) {
    faster_since_ns_ = 0;
    TellSpeed(permille);
    return;
  }
  const int64_t now_ns = shop_->now_ns();
  if (faster_since_ns_ == 0) {
    faster_since_ns_ = now_ns;
    faster_permille_ = permille;
  }
  faster_permille_ = std::min(faster_permille_, permille);
  if (now_ns - faster_since_ns_ < kRecoveryNs) return;
  faster_since_ns_ = 0;
  TellSpeed(faster_permille_);
}

void NpuMonitor::TellSpeed(uint32_t permille) {
  if (permille == permille_) return;
  permille_ = permille;
  shop_->SetSpeed(pool_, permille).IgnoreError();
  shop_->SetNpuHot(pool_, permille < 1000);
}

void NpuMonitor::TellWell(bool is_well) {
  if (is_well == is_well_) return;
  is_well_ = is_well;
  shop_->SetNpuWorks(pool_, is_well);
}

uint32_t NpuMonitor::ReadSpeed() {
  const takt_npu_telemetry_t telemetry = unit_->telemetry();
  const int64_t hz = telemetry.frequency_hz;
  if (hz <= 0) return permille_;  // It does not know, or talks nonsense.
  highest_hz_ = std::max(highest_hz_, hz);
  if (telemetry.throttled_ns == kUnknown) {
    is_throttled_ = hz < highest_hz_;
  } else {
    // It stays so while the frequency does not come back: an idle unit is slow
    // for nobody, and so for no longer.
    is_throttled_ = hz < highest_hz_ &&
                    (is_throttled_ || telemetry.throttled_ns > throttled_ns_);
    throttled_ns_ = telemetry.throttled_ns;
  }
  if (!is_throttled_) return 1000;
  const double part =
      static_cast<double>(hz) / static_cast<double>(highest_hz_);
  return std::clamp(static_cast<uint32_t>(part * 1000), 1u, 1000u);
}

void NpuMonitor::LookAtHealth() {
  const bool is_well = !unit_->is_quarantined();
  TellWell(is_well);
  if (is_well || !unit_->IsProbeDue() ||
      is_probing_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  prober_->Submit(new ProbeJob(this));
}

}  // namespace takt::npu
