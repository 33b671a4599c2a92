// A Context is the VM's context, with what its calls need besides: the
// instance, and the workers that a waiting caller helps.
//
// Thread-safety: as takt/context.h says.
#ifndef TAKT_API_CONTEXT_H_
#define TAKT_API_CONTEXT_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "api/blocking_wait.h"
#include "api/call_queue.h"
#include "api/instance.h"
#include "base/mutex.h"
#include "base/object.h"
#include "takt/context.h"
#include "vm/context.h"

namespace takt::api {

// Has the thread that runs an initializer help the workers while the
// initializer is parked.
class InitializerWaiter final : public vm::Waiter {
 public:
  // `executor` may be null.
  explicit InitializerWaiter(Ref<exec::Executor> executor)
      : executor_(std::move(executor)) {}

  void WaitUntilWoken(vm::Invocation& invocation) override;
  void Woken(vm::Invocation& invocation) override;

 private:
  // One invocation that is waited for, or was woken before that.
  struct Entry {
    vm::Invocation* invocation;
    BlockingWait* thread;  // nullptr: woken.
  };

  const Ref<exec::Executor> executor_;
  Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

class Context final : public Object {
 public:
  static constexpr ObjectType kType{"takt.context"};

  static absl::StatusOr<Ref<Context>> Create(
      Instance* instance, const takt_context_options_t& options);

  Instance& instance() const { return *instance_; }
  vm::Context& vm() const { return *vm_; }
  absl::Span<const Ref<hal::Device>> devices() const { return devices_; }
  // Bit i: pool i of the shop is the NPU of one of its devices.
  uint32_t shop_pools() const;
  // The workers that run what this context submits; null if its devices have
  // none.
  exec::Executor* executor() const { return executor_.get(); }
  // What schedules them; null if nobody does.
  shop::JobShop* shop() const { return shop_.get(); }
  // Where its programs run, one at a time.
  CallQueue& strand() { return strand_; }

 private:
  Context(Ref<Instance> instance, Ref<exec::Executor> executor)
      : Object(&kType),
        instance_(std::move(instance)),
        executor_(std::move(executor)),
        shop_(Ref<shop::JobShop>::Retain(instance_->FindShop(executor_.get()))),
        waiter_(executor_),
        strand_(this, executor_.get()) {}

  const Ref<Instance> instance_;
  std::vector<Ref<hal::Device>> devices_;  // Set while it is created.
  const Ref<exec::Executor> executor_;
  const Ref<shop::JobShop> shop_;
  InitializerWaiter waiter_;
  CallQueue strand_;
  Ref<vm::Context> vm_;  // Last: gone first, and it uses the waiter.
};

}  // namespace takt::api

#endif  // TAKT_API_CONTEXT_H_
