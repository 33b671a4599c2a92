// Has what a module does on an NPU be done by the CPU as well, where the module
// has code for both.
//
// Compiled code asks the devices which formats they take, and records its
// command buffers accordingly, while it is linked. Linked once more, without
// NPUs, it records the same commands with the CPU's code and grids: so each
// dispatch for an NPU finds its other way.
#ifndef TAKT_API_EITHER_WAY_H_
#define TAKT_API_EITHER_WAY_H_

#include "runtime/context.h"
#include "vm/context.h"

namespace takt::api {

// `context` has just been created of these options, and nothing runs in it. It
// does nothing where the context has no NPU with both ways, no other device, or
// initializers that must not run twice. What goes wrong leaves the NPU as the
// only way.
void FindOtherWays(runtime::Instance* instance,
                   const runtime::ContextOptions& options,
                   vm::Context& context);

}  // namespace takt::api

#endif  // TAKT_API_EITHER_WAY_H_
