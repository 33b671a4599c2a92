#include "api/sync_wait.h"

#include "base/clock.h"
#include "base/status.h"

namespace takt::api {
namespace {

// Passes a fence's outcome to the thread that waits for it.
struct FenceWait : hal::FenceWaiter {
  explicit FenceWait(SyncWait& waiting_thread)
      : FenceWaiter(&FenceWait::OnOutcome), thread(waiting_thread) {}
  static void OnOutcome(FenceWaiter* waiter, const absl::Status& status) {
    auto* wait = static_cast<FenceWait*>(waiter);
    wait->outcome = status;
    wait->thread.Notify();
  }

  SyncWait& thread;
  absl::Status outcome;  // Written before Notify(), read after the wait.
};

}  // namespace

bool SyncWait::WaitUntilNotified(int64_t deadline_ns) {
  if (donor_.has_value()) return donor_->WaitUntilNotified(deadline_ns);
  while ((sleeper_.raised() & kNotified) == 0) {
    if (deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns) return false;
    sleeper_.Sleep(deadline_ns);
  }
  sleeper_.Take(kNotified);
  return true;
}

absl::Status WaitForFence(const hal::Fence& fence, SyncWait& thread,
                          int64_t deadline_ns) {
  bool reached = false;
  TAKT_RETURN_IF_ERROR(fence.Query(&reached));
  if (reached) return absl::OkStatus();
  const absl::Status late(absl::StatusCode::kDeadlineExceeded, "");
  if (deadline_ns != kInfiniteFuture && deadline_ns <= NowNs()) return late;
  FenceWait wait(thread);
  const hal::Fence* const fences[] = {&fence};
  if (!wait.Start(fences, &wait.outcome)) return wait.outcome;
  if (!thread.WaitUntilNotified(deadline_ns)) {
    if (wait.Cancel()) return late;
    thread.WaitUntilNotified(kInfiniteFuture);  // The outcome is on its way.
  }
  return wait.outcome;
}

}  // namespace takt::api
