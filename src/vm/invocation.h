// An Invocation is one call of one exported function: its frames, and where it
// stands. It runs on whatever thread calls Run(); at a native call that must
// wait it parks, and Run() returns, keeping every frame. No thread is held by
// a parked invocation.
//
//           Run()            native call parks
//   kReady ------> kRunning -------------------> kParked
//     ^               |  ^ (woken before Run() was left: goes on)   |
//     |               v                                             |
//     |             kDone                                           |
//     +-------------------------- Wake() ---------------------------+
//
// Thread-safety: Run() on one thread at a time; Wake() and RequestCancel()
// from any thread; the rest by whoever may call Run().
#ifndef TAKT_VM_INVOCATION_H_
#define TAKT_VM_INVOCATION_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "vm/context.h"
#include "vm/value.h"

namespace takt::vm {

class Invocation final : public Object {
 public:
  static constexpr ObjectType kType{"vm.invocation"};
  enum class State : uint8_t { kReady, kRunning, kParked, kDone };

  // Checks and converts `arguments` by the function's calling convention
  // (INVALID_ARGUMENT: count or kind). Null refs are allowed. Refs are
  // borrowed unless the caller moves them in.
  static absl::StatusOr<Ref<Invocation>> Create(Context& context,
                                                FunctionRef function,
                                                absl::Span<Value> arguments);

  // Runs until done or parked, and says which.
  State Run();
  // Runs to the end, waiting with the context's Waiter whenever parked.
  // Returns status().
  absl::Status RunToEnd();

  State state() const { return state_.load(std::memory_order_acquire); }
  // Valid once done: how it ended; messages name module and function.
  const absl::Status& status() const { return status_; }
  // Valid once done and OK: to be moved from, in the order of the convention.
  // This is how a caller takes results without an allocation.
  absl::Span<Value> results();
  // The same as a vector. Once.
  std::vector<Value> TakeResults();

  // Ends the parked native call's wait: Run() may be called again. `on_woken`
  // is told if the invocation had really left Run(). Exactly one Wake() per
  // Park(), from any thread.
  void Wake();
  // Who is told of a Wake() that found the invocation parked. Default: the
  // context's Waiter. Set before Run().
  using OnWoken = void (*)(void* argument, Invocation& invocation);
  void SetOnWoken(OnWoken on_woken, void* argument);

  // The invocation ends with CANCELLED at its next call or backward branch.
  void RequestCancel();
  // Fails the invocation with RESOURCE_EXHAUSTED after that many instructions
  // (counted at backward branches and calls; 0: unlimited). For fuzzing and
  // untrusted code.
  void SetStepLimit(uint64_t instructions);

  Context& context() const { return *context_; }

  // A place where a parked native call keeps what it needs until it is resumed
  // (a fence waiter, a deadline). One per invocation, since one call at a time
  // can be parked. Destroyed when the call returns or the invocation dies.
  class ParkedState {
   public:
    virtual ~ParkedState() = default;
  };
  void SetParkedState(std::unique_ptr<ParkedState> parked_state);
  ParkedState* parked_state() const { return parked_state_.get(); }

  // Bytes this invocation holds now (frames, tables).
  size_t memory_bytes() const;

 private:
  // To be completed by the implementation.
  std::atomic<State> state_{State::kReady};
  absl::Status status_;
  Ref<Context> context_;
  std::unique_ptr<ParkedState> parked_state_;
};

// Creates, runs to the end, and returns the results.
absl::StatusOr<std::vector<Value>> Invoke(Context& context,
                                          FunctionRef function,
                                          absl::Span<Value> arguments);

}  // namespace takt::vm

#endif  // TAKT_VM_INVOCATION_H_
