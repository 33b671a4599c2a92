// A Cancellation belongs to a call that can be cancelled, and to the work that
// devices do for it. The work polls it and reports when it has ended, so that
// the thread that cancels the call can wait until no part of it writes to
// memory.
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
  Cancellation() : Object(&kType) {}

  // Polled by work between its pieces.
  bool is_requested() const {
    return is_requested_.load(std::memory_order_relaxed);
  }
  // What such work fails with.
  static absl::Status Error();

  // False if the work must not begin; else EndWork() follows.
  bool BeginWork() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWork() ABSL_LOCKS_EXCLUDED(mutex_);

  void Request() ABSL_LOCKS_EXCLUDED(mutex_);
  // After Request(), once. True if no work is under way; else `on_idle` is
  // called when the last has ended, on the thread that ends it.
  using OnIdle = void (*)(void* argument);
  bool IsIdle(OnIdle on_idle, void* argument) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::atomic<bool> is_requested_{false};  // Written under mutex_.
  Mutex mutex_;
  uint32_t work_count_ ABSL_GUARDED_BY(mutex_) = 0;
  OnIdle on_idle_ ABSL_GUARDED_BY(mutex_) = nullptr;
  void* argument_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_CANCELLATION_H_
