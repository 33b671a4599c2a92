// The `hal_inline` module serves code that is compiled with an inline execution
// model (--iree-execution-model=inline-static or inline-dynamic). Such code has
// buffers and buffer views, but neither queues nor fences: it accesses the
// bytes of a buffer itself, as a vm.buffer.
//
// Thread-safety: the module is immutable and serves any number of contexts.
#ifndef TAKT_MODULES_HAL_INLINE_MODULE_H_
#define TAKT_MODULES_HAL_INLINE_MODULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hal/device.h"
#include "modules/buffer_state.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::modules {

struct HalInlineModuleOptions {
  // The first one provides memory and answers queries. If there is none, memory
  // comes from the system, and queries have no answer.
  std::vector<Ref<hal::Device>> devices;
  // Gets the text of each buffer_view.trace. Default: stderr.
  TraceSink trace_sink;
};

// Registers the hal types and makes the module. INVALID_ARGUMENT for a null
// device.
absl::StatusOr<Ref<vm::Module>> CreateHalInlineModule(
    vm::TypeRegistry& registry, HalInlineModuleOptions options);

}  // namespace takt::modules

#endif  // TAKT_MODULES_HAL_INLINE_MODULE_H_
