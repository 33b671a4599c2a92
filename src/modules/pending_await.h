// A PendingAwait is a parked call of hal.fence.await: it waits for fences, and
// for a deadline if there is one, and wakes its invocation exactly once.
//
// Invariants:
//   (1) Each party that may still touch the object counts in parties_: the
//       call that sets it up, the fence waiter, the timer. Whoever takes the
//       count to zero wakes the invocation.
//   (2) outcome_ is written by at most one party: the fence waiter's notify
//       and the timer's successful cancelling of it exclude each other.
//   (3) Until then the object holds a reference to its invocation and one to
//       itself, so that both outlive whatever may still call back, even if
//       the invocation is cancelled meanwhile.
#ifndef TAKT_MODULES_PENDING_AWAIT_H_
#define TAKT_MODULES_PENDING_AWAIT_H_

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/fence.h"
#include "vm/call.h"
#include "vm/invocation.h"

namespace takt::modules {

class PendingAwait final : public Object {
 public:
  // What an await that ran out of time returns: DEADLINE_EXCEEDED as a value.
  static constexpr int32_t kTimedOut = 4;

  // Parks `call` until every fence is reached, one fails, or NowNs() reaches
  // `deadline_ns` (kInfiniteFuture: never). If the outcome is known already,
  // returns it and does not park.
  static absl::StatusOr<int32_t> Begin(vm::NativeCall& call,
                                       absl::Span<hal::Fence* const> fences,
                                       int64_t deadline_ns,
                                       TimerService& timers);
  // The outcome, once the call is resumed.
  static absl::StatusOr<int32_t> Finish(vm::NativeCall& call);

 private:
  static constexpr ObjectType kType{"takt.pending_await"};

  // What the invocation holds. Destroyed when the call returns, or when the
  // invocation was cancelled and nobody waits any more.
  struct Handle;
  // Each knows who it is part of.
  struct Waiter : hal::FenceWaiter {
    explicit Waiter(PendingAwait* await_in)
        : FenceWaiter(&PendingAwait::OnFences), await(await_in) {}
    PendingAwait* const await;
  };
  struct Timer : TimerService::Timer {
    explicit Timer(PendingAwait* await_in) : await(await_in) {
      fire = &PendingAwait::OnDeadline;
    }
    PendingAwait* const await;
  };

  PendingAwait(vm::Invocation& invocation, TimerService& timers,
               bool has_deadline);

  static void OnFences(hal::FenceWaiter* waiter, const absl::Status& status);
  static void OnDeadline(TimerService::Timer* timer);
  void ArmTimer(int64_t deadline_ns);
  // One party is done; the last one wakes.
  void Leave();
  // Ends the wait for both, as far as they have not come.
  void Abandon();

  Ref<vm::Invocation> invocation_;
  Ref<PendingAwait> self_;
  TimerService& timers_;  // The module's, which the invocation keeps alive.
  const bool has_deadline_;
  Waiter waiter_;
  Timer timer_;
  std::atomic<int32_t> parties_;
  // Set by the waiter's notify before it tries to cancel the timer, read by
  // ArmTimer() after arming it: the timer's lock orders the two, so that one
  // of them cancels it.
  std::atomic<bool> fences_done_{false};
  absl::StatusOr<int32_t> outcome_ = kTimedOut;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_PENDING_AWAIT_H_
