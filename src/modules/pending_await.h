// A PendingAwait is a parked call of hal.fence.await: it waits for fences, and
// for a deadline if there is one, and wakes its invocation exactly once.
//
// Invariants:
//   (1) parties_ counts the parties that may still touch the object: the call
//       that sets it up, the fence waiter, the timer. The party that takes the
//       count to zero wakes the invocation.
//   (2) At most one party writes outcome_: if the timer cancels the fence
//       waiter, that does not notify.
//   (3) Until the wake the object holds a reference to its invocation and one
//   to
//       itself, so that both outlive every call back, even if the invocation is
//       cancelled meanwhile.
#ifndef TAKT_MODULES_PENDING_AWAIT_H_
#define TAKT_MODULES_PENDING_AWAIT_H_

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/borrower.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/fence.h"
#include "vm/call.h"
#include "vm/invocation.h"

namespace takt::modules {

class PendingAwait final : public Object {
 public:
  // The result of an await whose deadline has passed: DEADLINE_EXCEEDED, as a
  // value.
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

  // The invocation's handle of the await. It is destroyed when the call
  // returns, or when the invocation is cancelled.
  struct Handle;
  // Both point to the await that they are part of.
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
  // Ends one party's part. The last one wakes the invocation.
  void Leave();
  // Cancels the fence waiter and the timer, if they have not been notified.
  void Abandon();

  Ref<vm::Invocation> invocation_;
  // The call's; an await that just ends may outlive the invocation.
  const Ref<Borrower> borrower_;
  Ref<PendingAwait> self_;
  TimerService& timers_;  // The module's, which the invocation keeps alive.
  const bool has_deadline_;
  Waiter waiter_;
  Timer timer_;
  std::atomic<int32_t> parties_;
  // Set by the waiter's notify before it tries to cancel the timer, read by
  // ArmTimer() after arming it. The timer's lock orders the two, so one of them
  // cancels the timer.
  std::atomic<bool> fences_done_{false};
  absl::StatusOr<int32_t> outcome_ = kTimedOut;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_PENDING_AWAIT_H_
