#include "npu/device.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "npu/unit_formats.h"

namespace takt::npu {

absl::StatusOr<Ref<cpu::Device>> CreateDevice(
    Ref<Unit> unit, Ref<exec::Executor> executor, bool owns_executor,
    const cpu::MemoryPool::Options& memory, bool takes_native_code,
    Ref<Tracer> tracer) {
  // Compiled code looks for "local*".
  const std::string id = absl::StrCat("local-npu-", unit->driver_name());
  auto formats = std::make_shared<UnitFormats>(unit, takes_native_code);
  cpu::Device::Options options;
  options.imports = formats.get();
  options.formats = std::move(formats);
  options.memory = memory;
  options.owns_executor = owns_executor;
  options.tracer = std::move(tracer);
  options.companion = std::move(unit);
  return cpu::Device::Create(id, std::move(executor), options);
}

Unit* UnitOf(const cpu::Device& device) {
  return DynCast<Unit>(device.companion());
}

}  // namespace takt::npu
