// A Cancellation belongs to a call that can be cancelled, and to the device
// work of the call. The work polls it and reports its end, so the thread that
// cancels the call can wait until no part of the work writes to memory. It also
// holds the step limit of the call's kernels.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf.
#ifndef TAKT_BASE_CANCELLATION_H_
#define TAKT_BASE_CANCELLATION_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/object.h"

namespace takt {

class Cancellation final : public Object {
 public:
  static constexpr ObjectType kType{"takt.cancellation"};

  enum class Scope : uint8_t {
    kAllWork,  // Work ends between its pieces, and is counted.
    // Only bytecode that runs as a kernel ends, because it might never do so by
    // itself. Other work is neither stopped nor counted.
    kKernels,
  };

  // `step_limit`: of all kernels together; 0: none.
  explicit Cancellation(Scope scope = Scope::kAllWork, uint64_t step_limit = 0)
      : Object(&kType),
        scope_(scope),
        has_step_limit_(step_limit != 0),
        steps_left_(step_limit) {}
  static Ref<Cancellation> Create(BlockPool& pool, Scope scope,
                                  uint64_t step_limit) {
    return Ref<Cancellation>::Adopt(new (pool) Cancellation(scope, step_limit));
  }

  bool stops_all_work() const { return scope_ == Scope::kAllWork; }

  // Polled by work between its pieces.
  bool is_requested() const {
    return is_requested_.load(std::memory_order_relaxed);
  }
  // The error of work that was cancelled.
  static absl::Status Error();

  // Takes steps for a kernel to run; false, and nothing is taken, if there are
  // fewer.
  bool TakeSteps(uint64_t steps);
  // Returns steps that were taken and not run.
  void GiveBackSteps(uint64_t steps);

  // For the scope kAllWork. False if the work must not begin; otherwise the
  // caller calls EndWork() at its end.
  bool BeginWork() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWork() ABSL_LOCKS_EXCLUDED(mutex_);

  void Request() ABSL_LOCKS_EXCLUDED(mutex_);
  // Called once, after Request(). Returns true if no work is running; otherwise
  // `on_idle` is called when the last work has ended, on the thread that ends
  // it.
  using OnIdle = void (*)(void* argument);
  bool IsIdle(OnIdle on_idle, void* argument) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Scope scope_;
  const bool has_step_limit_;
  std::atomic<uint64_t> steps_left_;       // Relaxed: it orders nothing.
  std::atomic<bool> is_requested_{false};  // Written under mutex_.
  Mutex mutex_;
  uint32_t work_count_ ABSL_GUARDED_BY(mutex_) = 0;
  OnIdle on_idle_ ABSL_GUARDED_BY(mutex_) = nullptr;
  void* argument_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_CANCELLATION_H_
