// A Context is the VM's context together with its instance, its devices, the
// queue of its calls, and the workers that a waiting caller helps.
//
// Thread-safety: as takt/context.h says.
#ifndef TAKT_RUNTIME_CONTEXT_H_
#define TAKT_RUNTIME_CONTEXT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/object.h"
#include "runtime/call_queue.h"
#include "runtime/initializer_waiter.h"
#include "runtime/instance.h"
#include "runtime/parameters.h"
#include "vm/context.h"

namespace takt::runtime {

// takt/context.h documents these. All is borrowed, and kept as needed.
struct ContextOptions {
  std::vector<vm::Module*> modules;  // In link order.
  std::vector<hal::Device*> devices;
  std::vector<Parameters*> parameters;
  uint64_t step_limit = 0;    // 0: no limit.
  uint64_t memory_limit = 0;  // 0: the default of MemoryAccount.
  // The workers that a waiting caller helps; null: none.
  exec::Executor* executor = nullptr;
};

// True if the module imports functions of the module `name`, or depends on it.
bool Needs(const vm::Module& module, absl::string_view name);

class Context final : public Object {
 public:
  static constexpr ObjectType kType{"takt.context"};

  // Links the modules, after those of the library that they need, and runs
  // their initializers. INVALID_ARGUMENT if there is no module.
  static absl::StatusOr<Ref<Context>> Create(Instance* instance,
                                             const ContextOptions& options);

  Instance& instance() const { return *instance_; }
  vm::Context& vm() const { return *vm_; }
  absl::Span<const Ref<hal::Device>> devices() const { return devices_; }
  // Bit i: pool i of the scheduler is the NPU of one of the devices.
  uint32_t shop_pools() const;
  // The workers that run the work of this context; null if its devices have
  // none.
  exec::Executor* executor() const { return executor_.get(); }
  // The scheduler of these workers; null: none.
  shop::JobShop* shop() const { return shop_.get(); }
  // Passes the signal to the modules, between two programs.
  absl::Status Notify(vm::Signal::Kind signal);
  // Runs its programs one at a time.
  CallQueue& call_queue() { return call_queue_; }

 private:
  Context(Ref<Instance> instance, Ref<exec::Executor> executor)
      : Object(&kType),
        instance_(std::move(instance)),
        executor_(std::move(executor)),
        shop_(Ref<shop::JobShop>::Retain(instance_->FindShop(executor_.get()))),
        waiter_(executor_),
        call_queue_(this, executor_.get()) {}

  const Ref<Instance> instance_;
  std::vector<Ref<hal::Device>> devices_;  // Set while it is created.
  const Ref<exec::Executor> executor_;
  const Ref<shop::JobShop> shop_;
  InitializerWaiter waiter_;
  CallQueue call_queue_;
  Ref<vm::Context> vm_;  // Last, since it uses the waiter.
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CONTEXT_H_
