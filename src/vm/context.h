// A Context is a list of linked modules with mutable state of its own. A list
// is linked once, and its initializers run once. A later context starts from a
// copy of the state that they left, if every import that they reach allows
// that; so it is cheap to make.
//
// Thread-safety: retain and release may run on any thread. Invocations of one
// context must not overlap, unless the program orders its work by fences. Two
// contexts share no mutable state.
#ifndef TAKT_VM_CONTEXT_H_
#define TAKT_VM_CONTEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "vm/instance.h"
#include "vm/linkage.h"
#include "vm/module.h"

namespace takt::vm {

class Invocation;

// How a thread waits for a parked invocation in a synchronous call. The
// embedder lends the thread to its workers meanwhile. A waiter outlives every
// context that has it.
class Waiter {
 public:
  virtual ~Waiter() = default;
  // Returns once `invocation` has been woken.
  virtual void WaitUntilWoken(Invocation& invocation) = 0;
  // Called on another thread when `invocation` is woken.
  virtual void Woken(Invocation& invocation) = 0;
};

struct Signal {  // Argument of a module's __notify.
  enum Kind : int32_t { kResume = 0, kSuspend = 1, kLowMemory = 2, kFork = 3 };
};

// A function of a linked module.
struct FunctionRef {
  uint32_t module = 0;  // Index into Context::modules().
  uint32_t export_index = 0;
};

class Context final : public Object {
 public:
  static constexpr ObjectType kType{"vm.context"};

  // Links `modules` in order (imports come from earlier ones) and runs their
  // initializers. `waiter` nullptr: a parked initializer blocks the thread on
  // a condition variable. Errors: NOT_FOUND listing every import and
  // dependency that is missing or too old; INTERNAL for a signature that
  // differs; an initializer's own error.
  // `special_step_limit`: SetStepLimit() of each initializer and of the other
  // functions that the context calls by itself; 0: unlimited. `memory_limit`:
  // of each invocation that has none of its own; 0: the default of
  // MemoryAccount.
  static absl::StatusOr<Ref<Context>> Create(
      absl::Span<const Ref<Module>> modules, Waiter* waiter,
      uint64_t special_step_limit = 0, uint64_t memory_limit = 0);

  absl::Span<const Ref<Module>> modules() const { return modules_; }
  Module* FindModule(absl::string_view name) const;
  // "module.function", or "function" of the last module. NOT_FOUND names the
  // function and the modules.
  absl::StatusOr<FunctionRef> FindFunction(absl::string_view full_name) const;
  const ExportInfo& info(FunctionRef function) const;

  // Calls __notify of every module that has it (in order, or in reverse for
  // suspend and low memory).
  absl::Status Notify(Signal::Kind signal);

  ModuleState* state(size_t module) const { return states_[module].get(); }
  Waiter* waiter() const { return waiter_; }
  uint64_t memory_limit() const { return memory_limit_; }
  // Bytes of memory that only this context uses (states, tables).
  size_t memory_bytes() const;

  const Linkage& linkage() const { return *linkage_; }
  BlockPool& pool() const { return linkage_->pool(); }

 private:
  friend class Invocation;

  Context(absl::Span<const Ref<Module>> modules, Ref<Linkage> linkage,
          Waiter* waiter, uint64_t special_step_limit, uint64_t memory_limit);
  ~Context() override;  // Runs __deinit in reverse order.

  absl::Status CreateStates();
  absl::Status RunInitializers();
  // Calls an export of `module` that takes an i32, or nothing, if it is there.
  absl::Status CallSpecial(size_t module, absl::string_view name,
                           const int32_t* argument);
  // nullptr if some object cannot be copied.
  std::shared_ptr<const Snapshot> TakeSnapshot() const;
  // False, with nothing changed, if some object cannot be copied.
  bool Restore(const Snapshot& snapshot);
  // The bytecode modules' states; nullptr for native ones.
  BytecodeState* bytecode_state(size_t module) const;

  // Destroyed before the owners of the states' code and pools.
  const std::vector<Ref<Module>> modules_;
  const Ref<Linkage> linkage_;
  Waiter* const waiter_;
  const uint64_t special_step_limit_;
  const uint64_t memory_limit_;
  std::vector<std::unique_ptr<ModuleState>> states_;
  std::vector<ModuleState*> state_pointers_;  // What instances refer to.
  std::vector<const Instance*> instances_;    // nullptr: native.
  size_t initialized_ = 0;                    // Modules whose __init has run.
};

}  // namespace takt::vm

#endif  // TAKT_VM_CONTEXT_H_
