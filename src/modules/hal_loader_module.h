// The `hal_loader` module loads and runs the executables of code that is
// compiled with --iree-execution-model=inline-dynamic. A dispatch is one queue
// operation of a device. The call returns when it is done; the invocation is
// parked meanwhile, as in hal.fence.await.
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

// The highest version that modules may require. Modules of compilers
// before 3.12 require version 0, whose dispatch takes an i32 ordinal.
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
