// Has what a module does on an NPU be done by the CPU as well, where the module
// has code for both.
//
// Compiled code asks the devices which formats they take, and records its
// command buffers accordingly, while it is linked. Linked once more, without
// NPUs, it records the same commands with the CPU's code and grids: so each
// dispatch for an NPU finds its other way.
#ifndef TAKT_API_EITHER_WAY_H_
#define TAKT_API_EITHER_WAY_H_

#include "absl/types/span.h"
#include "api/instance.h"
#include "takt/context.h"
#include "vm/context.h"

namespace takt::api {

// Of a context of these modules and options that has just been created, before
// anything runs in it. It does nothing where the context has no NPU with both
// ways, no other device, or initializers that must not run twice. What goes
// wrong leaves the NPU as the only way.
void FindOtherWays(Instance* instance, const takt_context_options_t& options,
                   absl::Span<const Ref<vm::Module>> modules,
                   vm::Context& context);

}  // namespace takt::api

#endif  // TAKT_API_EITHER_WAY_H_
