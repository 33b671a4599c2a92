#include "modules/pending_await.h"

#include <memory>
#include <new>
#include <utility>

#include "base/block_pool.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/lean_error.h"

namespace takt::modules {
namespace {

// The outcome of a wait whose deadline came first. No fence fails with it.
absl::Status Late() {
  return LeanError(absl::StatusCode::kDeadlineExceeded,
                   [] { return "await: the deadline came first"; });
}

}  // namespace

struct PendingAwait::Handle final : vm::Invocation::ParkedState {
  explicit Handle(Ref<PendingAwait> await_in) : await(std::move(await_in)) {}
  ~Handle() override {
    if (await != nullptr) await->Abandon();
  }

  static void* operator new(size_t bytes, BlockPool& pool) {
    return pool.Allocate(bytes);
  }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }

  Ref<PendingAwait> await;
};

PendingAwait::PendingAwait(vm::Invocation& invocation, TimerService& timers,
                           bool has_deadline)
    : Object(&kType),
      invocation_(Ref<vm::Invocation>::Retain(&invocation)),
      borrower_(Ref<Borrower>::Retain(invocation.job().borrower)),
      self_(Ref<PendingAwait>::Retain(this)),
      timers_(timers),
      has_deadline_(has_deadline),
      waiter_(this),
      timer_(this),
      // The fence waiter, and Begin() until it has armed the timer.
      parties_(has_deadline ? 2 : 1) {}

absl::StatusOr<int32_t> PendingAwait::Begin(
    vm::NativeCall& call, absl::Span<hal::Fence* const> fences,
    int64_t deadline_ns, TimerService& timers) {
  vm::Invocation& invocation = call.invocation();
  const bool has_deadline = deadline_ns != kInfiniteFuture;
  auto await = Ref<PendingAwait>::Adopt(
      new (invocation.pool()) PendingAwait(invocation, timers, has_deadline));
  invocation.SetParkedState(std::unique_ptr<vm::Invocation::ParkedState>(
      new (invocation.pool()) Handle(await)));

  absl::Status status;
  if (!await->waiter_.Start(fences, &status, await->borrower_.get())) {
    await->parties_.store(0, std::memory_order_relaxed);
    await->invocation_.reset();
    await->self_.reset();
    invocation.SetParkedState(nullptr);
    if (!status.ok()) return status;
    return 0;
  }
  call.Park();
  // The wake may come at any time from here on, but another thread resumes the
  // invocation only after this call has returned.
  if (has_deadline) {
    await->ArmTimer(deadline_ns);
    await->Leave();
  }
  return 0;  // Ignored, because the call is parked.
}

absl::StatusOr<int32_t> PendingAwait::Finish(vm::NativeCall& call) {
  auto* handle = static_cast<Handle*>(call.invocation().parked_state());
  TAKT_CHECK(handle != nullptr && handle->await->parties_.load() == 0);
  return std::move(handle->await->outcome_);
}

void PendingAwait::ArmTimer(int64_t deadline_ns) {
  parties_.fetch_add(1, std::memory_order_relaxed);
  timers_.Arm(&timer_, deadline_ns);
  if (fences_done_.load() && timers_.Cancel(&timer_)) Leave();
}

void PendingAwait::OnFences(hal::FenceWaiter* waiter,
                            const absl::Status& status) {
  PendingAwait* await = static_cast<Waiter*>(waiter)->await;
  if (status.ok()) {
    await->outcome_ = 0;
  } else if (status != Late()) {
    await->outcome_ = status;
  }
  await->fences_done_.store(true);
  if (await->has_deadline_ && await->timers_.Cancel(&await->timer_)) {
    await->Leave();
  }
  await->Leave();
}

void PendingAwait::OnDeadline(TimerService::Timer* timer) {
  PendingAwait* await = static_cast<Timer*>(timer)->await;
  // If the fences came first, their outcome stays.
  if (await->waiter_.Cancel(Late())) await->Leave();
  await->Leave();
}

void PendingAwait::Leave() {
  const int before = parties_.fetch_sub(1, std::memory_order_acq_rel);
  TAKT_CHECK(before >= 1);
  if (before != 1) return;
  TAKT_CHECK(self_ != nullptr && invocation_ != nullptr);
  // After the wake another thread may end the invocation, which drops its
  // handle.
  const Ref<PendingAwait> self = std::move(self_);
  const Ref<vm::Invocation> invocation = std::move(invocation_);
  invocation->Wake();  // Ignored if it has been cancelled.
}

void PendingAwait::Abandon() {
  if (parties_.load(std::memory_order_acquire) == 0) return;
  if (waiter_.Cancel()) Leave();
  if (has_deadline_ && timers_.Cancel(&timer_)) Leave();
}

}  // namespace takt::modules
