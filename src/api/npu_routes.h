// Gives dispatches for an NPU a route to the CPU, where the module has code for
// both.
//
// While it is linked, compiled code asks the devices which formats they take,
// and records its command buffers accordingly. Linked once more without NPUs,
// it records the same commands with the code and the grids of the CPU. So each
// dispatch for an NPU finds its counterpart (route/dual_recording.h).
#ifndef TAKT_API_NPU_ROUTES_H_
#define TAKT_API_NPU_ROUTES_H_

#include "runtime/context.h"
#include "vm/context.h"

namespace takt::api {

// `context` has just been created with these options, and nothing runs in it.
// No effect if the context has no NPU that may route to the CPU, no other
// device, or initializers that must not run twice; and none if linking once
// more fails.
void AddRoutes(runtime::Instance* instance,
               const runtime::ContextOptions& options, vm::Context& context);

// Notes the NPUs for which no module that has been linked so far has code.
void NoteUnusedNpus(runtime::Instance& instance,
                    const runtime::ContextOptions& options);

}  // namespace takt::api

#endif  // TAKT_API_NPU_ROUTES_H_
