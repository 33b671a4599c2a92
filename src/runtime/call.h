// A call that its caller waits for.
//
// Thread-safety: any thread may call; calls of one context take turns.
#ifndef TAKT_RUNTIME_CALL_H_
#define TAKT_RUNTIME_CALL_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/call_options.h"
#include "runtime/function.h"
#include "vm/value.h"

namespace takt::runtime {

// Calls the function and waits for its results; takt/function.h has the
// contract. `results` are NONE when this is called, and after an error.
absl::Status CallAndWait(Function& function, const CallOptions& options,
                         absl::Span<const vm::Value> arguments,
                         absl::Span<vm::Value> results);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_H_
