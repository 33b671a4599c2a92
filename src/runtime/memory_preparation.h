// Prepares memory before the first call, so that the call neither allocates
// nor faults pages in.
//
// Thread-safety: any thread may prepare; calls may run meanwhile.
#ifndef TAKT_RUNTIME_MEMORY_PREPARATION_H_
#define TAKT_RUNTIME_MEMORY_PREPARATION_H_

#include "absl/status/status.h"
#include "modules/memory_need.h"
#include "runtime/context.h"
#include "runtime/function.h"

namespace takt::runtime {

// The transient memory of a call, as far as the program shows it in advance.
modules::MemoryNeed FindMemoryNeed(const Function& function);

// Reads the module's pages in, and reserves the memory of a call in its first
// device. RESOURCE_EXHAUSTED if the device does not have it.
absl::Status PrepareFunction(const Function& function);

// Reads the pages of all modules in, and fills the pools of blocks.
void PrepareContext(const Context& context);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_MEMORY_PREPARATION_H_
