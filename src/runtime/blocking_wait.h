// A BlockingWait blocks a caller's thread until another thread notifies it. If
// there is an executor, the thread works for it meanwhile; else it sleeps.
//
// It is made on the stack before the work is submitted, so that the workers
// leave small work to this thread.
//
// Thread-safety: Notify() from any thread; the rest on the thread that made it.
#ifndef TAKT_RUNTIME_BLOCKING_WAIT_H_
#define TAKT_RUNTIME_BLOCKING_WAIT_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/sleeper.h"
#include "exec/executor.h"
#include "hal/fence.h"

namespace takt::runtime {

class BlockingWait {
 public:
  // `executor` is borrowed; nullptr: the thread sleeps. It does work of `lane`
  // and more urgent work.
  explicit BlockingWait(exec::Executor* executor, uint8_t lane = 0) {
    if (executor != nullptr) donor_.emplace(*executor, lane);
  }

  // Waits until Notify() has been called. False if `deadline_ns` (of NowNs())
  // passes before. May be called again afterwards.
  bool WaitUntilNotified(int64_t deadline_ns);

  // The waiting thread may destroy this as soon as its wait returns.
  void Notify() {
    if (donor_.has_value()) {
      donor_->Notify();
    } else {
      sleeper_.Raise(kNotified);
    }
  }

 private:
  static constexpr uint32_t kNotified = 1;

  absl::optional<exec::Executor::HelpingCaller> donor_;
  Sleeper sleeper_;
};

// Waits until `fence` is reached or has failed: its error then.
// DEADLINE_EXCEEDED, without a message, once `deadline_ns` has passed.
absl::Status WaitForFence(const hal::Fence& fence, BlockingWait& thread,
                          int64_t deadline_ns);

// The same without a reference to the fence: ABORTED once no one is left that
// could signal it, that is when its last reference goes.
absl::Status WaitForSignal(Ref<hal::Fence> fence, BlockingWait& thread);

// The same for several fences; a null one counts as reached. *index receives
// the index of the fence that has failed, and keeps its value if none has.
absl::Status WaitForAll(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index);

// Waits until one of `fences` (at least one) is reached or fails. *index
// receives its index, and keeps its value after DEADLINE_EXCEEDED.
absl::Status WaitForAny(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_BLOCKING_WAIT_H_
