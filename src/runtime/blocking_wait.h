// How a caller's thread waits for an outcome: it works for the executor
// meanwhile if there is one, else it sleeps.
//
// Made on the stack before the work is submitted, so that small work is left
// to this thread.
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
  // `executor` is borrowed; nullptr: only sleep. Works on what is at least as
  // urgent as `lane`.
  explicit BlockingWait(exec::Executor* executor, uint8_t lane = 0) {
    if (executor != nullptr) donor_.emplace(*executor, lane);
  }

  // Waits until Notify() has been called, or `deadline_ns` (of NowNs()) has
  // passed: false then. Ready for another wait afterwards.
  bool WaitUntilNotified(int64_t deadline_ns);

  // The waiting thread may destroy this as soon as it has seen it.
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

// The same without keeping the fence: ABORTED once nobody is left who could
// signal it.
absl::Status WaitForSignal(Ref<hal::Fence> fence, BlockingWait& thread);

// The same for several fences, null ones being reached. *index receives which
// of them has failed; it is left alone if none has.
absl::Status WaitForAll(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index);

// Waits for the first of `fences` (at least one) to be reached or to fail.
// *index receives which; it is left alone if none has in time.
absl::Status WaitForAny(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_BLOCKING_WAIT_H_
