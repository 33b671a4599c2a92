// Lets the thread that runs an initializer help the workers while the
// initializer is parked.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// locked before a BlockingWait notifies its thread.
#ifndef TAKT_RUNTIME_INITIALIZER_WAITER_H_
#define TAKT_RUNTIME_INITIALIZER_WAITER_H_

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/object.h"
#include "exec/executor.h"
#include "runtime/blocking_wait.h"
#include "vm/context.h"

namespace takt::runtime {

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

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_INITIALIZER_WAITER_H_
