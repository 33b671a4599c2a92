// The `hal_loader` module: how code compiled with --iree-execution-model=
// inline-dynamic loads executables and runs them. A dispatch is one operation
// of a device's queue, and the call returns once it is done: the invocation is
// parked meanwhile, as it is by hal.fence.await.
//
// Thread-safety: the module is immutable and serves any number of contexts.
#ifndef TAKT_MODULES_HAL_LOADER_MODULE_H_
#define TAKT_MODULES_HAL_LOADER_MODULE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_service.h"
#include "hal/device.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::modules {

// What modules that depend on `hal_loader` ask for at most. Those of compilers
// before 3.12 ask for version 0, whose dispatch takes an i32 ordinal.
inline constexpr uint32_t kHalLoaderModuleVersion = 1;

struct HalLoaderModuleOptions {
  // An executable is loaded by the first one that takes its format.
  std::vector<Ref<hal::Device>> devices;
  // Not null.
  std::shared_ptr<TimerService> timers;
};

// Registers the hal types and makes the module. INVALID_ARGUMENT for a null
// device.
absl::StatusOr<Ref<vm::Module>> CreateHalLoaderModule(
    vm::TypeRegistry& registry, HalLoaderModuleOptions options);

}  // namespace takt::modules

#endif  // TAKT_MODULES_HAL_LOADER_MODULE_H_
