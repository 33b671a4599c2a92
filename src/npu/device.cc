#include "npu/device.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "npu/memory_sync.h"
#include "npu/npu_formats.h"
#include "npu/npu_monitor.h"

namespace takt::npu {
namespace {

// The unit as one of a shop's resources.
class ShopSeat {
 public:
  // `monitor` may be null.
  ShopSeat(Ref<shop::JobShop> shop, uint32_t pool, Ref<NpuMonitor> monitor)
      : shop_(std::move(shop)), pool_(pool), monitor_(std::move(monitor)) {}
  ~ShopSeat() {
    if (monitor_ != nullptr) monitor_->Stop();
    shop_->RemoveNpu(pool_);
  }
  ShopSeat(const ShopSeat&) = delete;
  ShopSeat& operator=(const ShopSeat&) = delete;

 private:
  const Ref<shop::JobShop> shop_;
  const uint32_t pool_;
  const Ref<NpuMonitor> monitor_;
};

}  // namespace

absl::StatusOr<Ref<cpu::Device>> CreateDevice(
    Ref<NpuUnit> unit, Ref<exec::Executor> executor, bool owns_executor,
    const cpu::MemoryPool::Options& memory, bool takes_native_code,
    Ref<Tracer> tracer, Ref<shop::JobShop> shop, cpu::DispatchObserver observer,
    std::shared_ptr<TimerService> monitor_timers) {
  // Compiled code looks for "local*".
  const std::string id = absl::StrCat("local-npu-", unit->driver_name());
  auto formats = std::make_shared<NpuFormats>(unit, takes_native_code);
  cpu::Device::Options options;
  if (shop != nullptr && executor != nullptr) {
    // Without a pool in the shop, the lease alone orders the work.
    const absl::StatusOr<uint32_t> pool =
        shop->AddNpu({unit->driver_name(),
                      (unit->capabilities().flags & TAKT_NPU_ON_CALLER) != 0 &&
                          executor.get() == &shop->executor()});
    if (pool.ok()) {
      Ref<NpuMonitor> monitor;
      if (monitor_timers != nullptr) {
        monitor = NpuMonitor::Start(unit, shop, *pool, executor,
                                    std::move(monitor_timers));
      }
      formats->set_seat(
          std::make_shared<ShopSeat>(shop, *pool, std::move(monitor)));
      options.shop_pools = 1u << *pool;
      options.shop = std::move(shop);
    }
  }
  if (unit->syncs_memory()) {
    options.memory_sync =
        MakeRef<cpu::LoadedExecutable>(std::make_shared<MemorySync>(unit));
  }
  options.imports = formats.get();
  options.formats = std::move(formats);
  options.memory = memory;
  options.observer = std::move(observer);
  options.owns_executor = owns_executor;
  options.tracer = std::move(tracer);
  options.companion = std::move(unit);
  return cpu::Device::Create(id, std::move(executor), options);
}

NpuUnit* UnitOf(const cpu::Device& device) {
  return DynCast<NpuUnit>(device.companion());
}

}  // namespace takt::npu
