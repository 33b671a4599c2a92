// A NativeCall is one call of a native function, as the function sees it.
//
// Arguments are slots in the order of the calling convention; a span is one
// i32 slot with its repetition count, then the tuples one after the other.
// Argument refs are borrowed: they live until the call is done (for a parked
// call until it has been resumed and returned); a function that keeps one
// retains it. The function stores one reference in the slot of a result ref,
// and the caller owns that. On error no result slot is read.
//
// Parking: a function that must wait arranges for exactly one Wake() of the
// invocation, calls Park() and returns OK. After the wake it is called again
// with the same arguments and resumed() true; it may park again. It holds no
// thread in between.
#ifndef TAKT_VM_CALL_H_
#define TAKT_VM_CALL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "vm/value.h"

namespace takt::vm {

class Invocation;
class ModuleState;

class NativeCall {
 public:
  NativeCall(Invocation& invocation, ModuleState* state, const Slot* arguments,
             Slot* results, bool resumed)
      : invocation_(invocation),
        state_(state),
        arguments_(arguments),
        results_(results),
        resumed_(resumed) {}

  Invocation& invocation() const { return invocation_; }
  // The state that this context holds for the native module.
  ModuleState* state() const { return state_; }
  const Slot* arguments() const { return arguments_; }
  Slot* results() const { return results_; }
  bool resumed() const { return resumed_; }

  // Says that this call returns without results, and that the function has to
  // be called again after invocation().Wake(). Wake() may come on any thread,
  // also before this call has returned.
  void Park() { parked_ = true; }
  bool parked() const { return parked_; }

 private:
  Invocation& invocation_;
  ModuleState* const state_;
  const Slot* const arguments_;
  Slot* const results_;
  const bool resumed_;
  bool parked_ = false;
};

// `self` is the pointer that the module registered with the function.
using NativeFunction = absl::Status (*)(void* self, NativeCall& call);

}  // namespace takt::vm

#endif  // TAKT_VM_CALL_H_
