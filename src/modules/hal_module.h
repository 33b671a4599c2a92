// The `hal` module gives compiled code access to devices, buffers, command
// buffers and fences. Every import of the compiler's ABI resolves. Functions
// that Takt lacks (collective channels) fail with UNIMPLEMENTED when they are
// called.
//
// Thread-safety: the module is immutable and serves any number of contexts.
#ifndef TAKT_MODULES_HAL_MODULE_H_
#define TAKT_MODULES_HAL_MODULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/timer_service.h"
#include "hal/command_buffer.h"
#include "hal/device.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::modules {

// The highest version that modules may require.
inline constexpr uint32_t kHalModuleVersion = 7;

struct HalModuleOptions {
  // In the order in which compiled code enumerates them.
  std::vector<Ref<hal::Device>> devices;
  // Gets the text of each buffer_view.trace. Default: stderr.
  std::function<void(absl::string_view)> trace_sink;
  // Wakes the awaits that have a timeout. Default: a thread of the module's
  // own, started by the first such await.
  std::shared_ptr<TimerService> timers;
  // Command buffers that initializers make are kept for TakeCommandBuffers(),
  // which is called before anything else runs in the context.
  bool collects_command_buffers = false;
  // A context may start from a copy of the state that the initializers of
  // another one have left.
  bool shares_initialized = true;
};

// A command buffer, and the device that it was made for.
struct CollectedCommandBuffer {
  Ref<hal::Device> device;
  Ref<hal::CommandBuffer> command_buffer;
};

// Adds the hal ref types. Modules that use them load only after this.
absl::Status RegisterHalTypes(vm::TypeRegistry& registry);

// Registers the types and makes the module. INVALID_ARGUMENT for a null
// device.
absl::StatusOr<Ref<vm::Module>> CreateHalModule(vm::TypeRegistry& registry,
                                                HalModuleOptions options);

}  // namespace takt::modules

#endif  // TAKT_MODULES_HAL_MODULE_H_
