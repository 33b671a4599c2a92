#include "runtime/blocking_wait.h"

#include <atomic>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/deferred.h"

namespace takt::runtime {
namespace {

// Passes a fence's outcome to the thread that waits for it.
struct FenceWait : hal::FenceWaiter {
  explicit FenceWait(BlockingWait& waiting_thread)
      : FenceWaiter(&FenceWait::OnOutcome), thread(waiting_thread) {}
  static void OnOutcome(FenceWaiter* waiter, const absl::Status& status) {
    auto* wait = static_cast<FenceWait*>(waiter);
    wait->outcome = status;
    wait->thread.Notify();
  }

  BlockingWait& thread;
  absl::Status outcome;  // Written before Notify(), read after the wait.
};

absl::Status Late() {
  return absl::Status(absl::StatusCode::kDeadlineExceeded, "");
}

// For a deadline that has passed: the thread helps a little.
[[gnu::noinline]] absl::Status HelpAndBeLate(BlockingWait& thread,
                                             int64_t deadline_ns) {
  (void)thread.WaitUntilNotified(deadline_ns);
  return Late();
}

// The outcome of all the fences together.
absl::Status WaitForOutcome(absl::Span<const hal::Fence* const> fences,
                            BlockingWait& thread, int64_t deadline_ns) {
  if (HasPassed(deadline_ns)) return HelpAndBeLate(thread, deadline_ns);
  FenceWait wait(thread);
  if (!wait.Start(fences, &wait.outcome)) return wait.outcome;
  if (!thread.WaitUntilNotified(deadline_ns)) {
    if (wait.Cancel(Late())) return Late();
    thread.WaitUntilNotified(kInfiniteFuture);  // The outcome comes now.
  }
  return wait.outcome;
}

// True if a fence has failed. Sets its index and error.
bool FindFailed(absl::Span<hal::Fence* const> fences, size_t* index,
                absl::Status* error, bool* all_reached) {
  *all_reached = true;
  for (size_t i = 0; i < fences.size(); ++i) {
    if (fences[i] == nullptr) continue;
    bool reached = false;
    *error = fences[i]->Query(&reached);
    if (!reached) *all_reached = false;
    if (error->ok()) continue;
    *index = i;
    return true;
  }
  return false;
}

// A wait for the first of several fences. Each fence has a waiter, and the
// first outcome decides. The object is on the heap, since a waiter that is
// about to be notified cannot be cancelled and outlives the wait. The last
// reference deletes it.
class AnyWait {
 public:
  static constexpr int64_t kGaveUp = -2;

  AnyWait(size_t fence_count, BlockingWait& thread)
      : thread_(thread), waiters_(fence_count) {}

  // Starts the waits, until one has an outcome.
  void Start(absl::Span<hal::Fence* const> fences) {
    for (size_t i = 0; i < fences.size(); ++i) {
      if (decision_.load(std::memory_order_acquire) != kOpen) return;
      Waiter& waiter = waiters_[i];
      waiter.wait = this;
      references_.fetch_add(1, std::memory_order_relaxed);
      waiter.started = waiter.Start({&fences[i], 1}, &waiter.outcome);
      if (!waiter.started) {
        if (Decide(static_cast<int64_t>(i))) thread_.Notify();
        Release();
      }
    }
  }

  // True for the first decision.
  bool Decide(int64_t decision) {
    int64_t open = kOpen;
    return decision_.compare_exchange_strong(open, decision,
                                             std::memory_order_acq_rel);
  }

  // The outcome of the fence that has decided; after its notification.
  absl::Status Outcome(size_t* index) const {
    const int64_t decision = decision_.load(std::memory_order_acquire);
    TAKT_CHECK(decision >= 0);
    *index = static_cast<size_t>(decision);
    return waiters_[*index].outcome;
  }

  // Drops the waiting thread's reference.
  void Abandon() {
    for (Waiter& waiter : waiters_) {
      if (waiter.started && waiter.Cancel()) Release();
    }
    Release();
  }

 private:
  static constexpr int64_t kOpen = -1;

  struct Waiter : hal::FenceWaiter {
    Waiter() : FenceWaiter(&Waiter::OnOutcome) {}
    static void OnOutcome(FenceWaiter* base, const absl::Status& status) {
      auto* self = static_cast<Waiter*>(base);
      AnyWait* wait = self->wait;
      self->outcome = status;
      if (wait->Decide(self - wait->waiters_.data())) wait->thread_.Notify();
      wait->Release();
    }

    AnyWait* wait = nullptr;
    bool started = false;  // For the waiting thread only.
    absl::Status outcome;  // Written before the decision.
  };

  void Release() {
    const int32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
    TAKT_DCHECK(before > 0);
    if (before == 1) delete this;
  }

  // The decision notifies it, and it waits for that notification.
  BlockingWait& thread_;
  std::atomic<int64_t> decision_{kOpen};  // The fence's index.
  // The waiting thread, and the waits that may still be notified.
  std::atomic<int32_t> references_{1};
  std::vector<Waiter> waiters_;
};

}  // namespace

bool BlockingWait::WaitUntilNotified(int64_t deadline_ns) {
  const hal::DeferredWaitScope scope;
  if (donor_.has_value()) return donor_->WaitUntilNotified(deadline_ns);
  while ((sleeper_.raised() & kNotified) == 0) {
    if (HasPassed(deadline_ns)) return false;
    sleeper_.Sleep(deadline_ns);
  }
  sleeper_.Take(kNotified);
  return true;
}

absl::Status WaitForFence(const hal::Fence& fence, BlockingWait& thread,
                          int64_t deadline_ns) {
  bool reached = false;
  TAKT_RETURN_IF_ERROR(fence.Query(&reached));
  if (reached) return absl::OkStatus();
  const hal::Fence* const fences[] = {&fence};
  return WaitForOutcome(fences, thread, deadline_ns);
}

absl::Status WaitForSignal(Ref<hal::Fence> fence, BlockingWait& thread) {
  TAKT_CHECK(fence != nullptr);
  FenceWait wait(thread);
  const hal::Fence* const fences[] = {fence.get()};
  if (!wait.Start(fences, &wait.outcome)) return wait.outcome;
  fence.reset();  // Else this reference would keep the wait from ending.
  thread.WaitUntilNotified(kInfiniteFuture);
  return wait.outcome;
}

absl::Status WaitForAll(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index) {
  absl::Status outcome;
  bool all_reached = true;
  if (FindFailed(fences, index, &outcome, &all_reached)) return outcome;
  if (all_reached) return outcome;
  outcome = WaitForOutcome(fences, thread, deadline_ns);
  // The wait does not say which fence has failed; the fences do.
  absl::Status error;
  if (!outcome.ok()) FindFailed(fences, index, &error, &all_reached);
  return outcome;
}

absl::Status WaitForAny(absl::Span<hal::Fence* const> fences,
                        BlockingWait& thread, int64_t deadline_ns,
                        size_t* index) {
  TAKT_CHECK(!fences.empty());
  for (size_t i = 0; i < fences.size(); ++i) {
    bool reached = true;
    absl::Status outcome;
    if (fences[i] != nullptr) outcome = fences[i]->Query(&reached);
    if (!reached && outcome.ok()) continue;
    *index = i;
    return outcome;
  }
  if (HasPassed(deadline_ns)) return HelpAndBeLate(thread, deadline_ns);
  auto* wait = new AnyWait(fences.size(), thread);
  wait->Start(fences);
  const bool in_time = thread.WaitUntilNotified(deadline_ns);
  const bool decided = in_time || !wait->Decide(AnyWait::kGaveUp);
  // A fence has decided after all; wait for its notification.
  if (decided && !in_time) thread.WaitUntilNotified(kInfiniteFuture);
  const absl::Status outcome = decided ? wait->Outcome(index) : Late();
  wait->Abandon();
  return outcome;
}

}  // namespace takt::runtime
