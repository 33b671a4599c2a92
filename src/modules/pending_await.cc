#include "modules/pending_await.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace takt::modules {

absl::StatusOr<int32_t> PendingAwait::Begin(
    vm::NativeCall& call, absl::Span<hal::Fence* const> fences,
    int64_t deadline_ns, TimerService& timers, BlockPool* pool) {
  vm::Invocation& invocation = call.invocation();
  const bool has_deadline = deadline_ns != kInfiniteFuture;
  std::unique_ptr<PendingAwait> owned(
      pool == nullptr ? new PendingAwait(invocation, timers, has_deadline)
                      : new (*pool)
                            PendingAwait(invocation, timers, has_deadline));
  PendingAwait* await = owned.get();
  // The waiter, and this function until it has armed the timer.
  await->parties_.store(has_deadline ? 2 : 1, std::memory_order_relaxed);
  invocation.SetParkedState(std::move(owned));

  absl::Status status;
  if (!await->waiter_.Start(fences, &status)) {
    await->invocation_.reset();  // The caller has its own reference.
    invocation.SetParkedState(nullptr);
    if (!status.ok()) return status;
    return 0;
  }
  call.Park();
  // From here on the wake may come at any time; but only once this call has
  // returned does another thread go on with the invocation.
  if (has_deadline) {
    await->ArmTimer(deadline_ns);
    await->Leave();
  }
  return 0;  // Not looked at: the call is parked.
}

absl::StatusOr<int32_t> PendingAwait::Finish(vm::NativeCall& call) {
  auto* await = static_cast<PendingAwait*>(call.invocation().parked_state());
  TAKT_CHECK(await != nullptr && await->invocation_ == nullptr);
  return std::move(await->outcome_);
}

void PendingAwait::ArmTimer(int64_t deadline_ns) {
  parties_.fetch_add(1, std::memory_order_relaxed);
  timers_.Arm(&timer_, deadline_ns);
  if (fences_done_.load() && timers_.Cancel(&timer_)) Leave();
}

void PendingAwait::OnFences(hal::FenceWaiter* waiter,
                            const absl::Status& status) {
  PendingAwait* await = static_cast<Waiter*>(waiter)->await;
  await->outcome_ = status.ok() ? absl::StatusOr<int32_t>(0)
                                : absl::StatusOr<int32_t>(status);
  await->fences_done_.store(true);
  if (await->has_deadline_ && await->timers_.Cancel(&await->timer_)) {
    await->Leave();
  }
  await->Leave();
}

void PendingAwait::OnDeadline(TimerService::Timer* timer) {
  PendingAwait* await = static_cast<Timer*>(timer)->await;
  // If the fences were faster, their outcome stands.
  if (await->waiter_.Cancel()) await->Leave();
  await->Leave();
}

void PendingAwait::Leave() {
  if (parties_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Kept until the wake is done: the invocation may end on another thread as
  // soon as it is woken, and takes this object with it.
  const Ref<vm::Invocation> invocation = std::move(invocation_);
  invocation->Wake();
}

}  // namespace takt::modules
