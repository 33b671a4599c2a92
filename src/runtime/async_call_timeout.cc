// Asynchronous calls: time limits and cancelling.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/duration_text.h"
#include "base/lean_error.h"
#include "runtime/async_call.h"

namespace takt::runtime {

absl::StatusOr<std::unique_ptr<AsyncCall::Timeout>> AsyncCall::ReadTimeout(
    const Function& function, const AsyncCallOptions& options) {
  if (options.timeout_ns == 0) return nullptr;
  if (options.timeout_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(function.name(),
                     ": options: timeout_ns: expected 0 or "
                     "more, got ",
                     options.timeout_ns));
  }
  const auto timers = function.context().instance().timers();
  if (!timers->StartThread()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        function.name(), ": the thread of the timer did not start"));
  }
  return std::make_unique<Timeout>(options.timeout_ns, timers);
}

void AsyncCall::ArmTimeout() {
  if (extras_.timeout == nullptr) return;
  MutexLock lock(&mutex_);
  if (phase() == Phase::kDone) return;
  TAKT_CHECK(extras_.timeout->call == nullptr);  // It is armed once.
  extras_.timeout->call = this;
  Retain();  // While it is armed.
  extras_.timeout->timers->Arm(
      extras_.timeout.get(), DeadlineAfter(NowNs(), extras_.timeout->limit_ns));
}

void AsyncCall::Expire() {
  Timeout* const timeout = extras_.timeout.get();
  // If the timer cannot be cancelled, it fires now, or the call is done.
  if (timeout != nullptr && timeout->timers->Cancel(timeout)) {
    OnTimeout(timeout);
  }
}

void AsyncCall::OnTimeout(TimerService::Timer* timer) {
  const auto self = Ref<AsyncCall>::Adopt(static_cast<Timeout*>(timer)->call);
  Timeout& timeout = *self->extras_.timeout;
  TAKT_CHECK(!timeout.has_passed.load());
  timeout.has_passed.store(true);
  self->extras_.cancellation->Request();
  self->Cancel();
  self->LeaveQueue();
  {
    MutexLock lock(&self->mutex_);
    timeout.gives_up = true;
    if (!timeout.awaits_signal) return;
  }
  self->GiveUpSignalWhenIdle();
}

void AsyncCall::LeaveQueue() {
  bool found = false;
  function_->context().call_queue().TakeQueued([&](CallQueue::Turn* turn) {
    if (turn != this) return false;
    found = true;
    return true;
  });
  if (!found) return;
  if (phase() == Phase::kQueued) {
    Complete(LateError());
  } else {
    Take();  // The program is cancelled, so only its end runs.
  }
}

absl::Status AsyncCall::LateError() const {
  TAKT_DCHECK(extras_.timeout != nullptr);
  return LeanError(absl::StatusCode::kDeadlineExceeded, [this] {
    return absl::StrCat(function_->name(), ": not done within ",
                        DurationText(extras_.timeout->limit_ns));
  });
}

void AsyncCall::CompleteWhenIdle(absl::Status status) {
  TAKT_CHECK(is_late());
  extras_.timeout->ending = std::move(status);
  const auto complete = [](void* argument) {
    auto* const self = static_cast<AsyncCall*>(argument);
    self->Complete(self->extras_.timeout->ending);
  };
  if (extras_.cancellation->IsIdle(complete, this)) complete(this);
}

void AsyncCall::GiveUpSignalWhenIdle() {
  Retain();
  const auto give_up = [](void* argument) {
    const auto self = Ref<AsyncCall>::Adopt(static_cast<AsyncCall*>(argument));
    const absl::Status late = self->LateError();
    if (self->signal_waiter_.Cancel(late)) {
      OnSignal(&self->signal_waiter_, late);
    }
  };
  if (extras_.cancellation->IsIdle(give_up, this)) give_up(this);
}

void AsyncCall::Cancel() {
  cancelled_.store(true);
  Ref<vm::Invocation> program;
  Phase phase;
  {
    MutexLock lock(&mutex_);
    phase = this->phase();
    program = program_;
  }
  if (program != nullptr) program->RequestCancel();
  // A time limit stops all work; this stops kernels in bytecode only.
  Cancellation& cancellation = *extras_.cancellation;
  if (!cancellation.stops_all_work()) cancellation.Request();
  if (phase == Phase::kDone) return;
  const absl::Status cancelled = LeanError(
      absl::StatusCode::kCancelled,
      [this] { return absl::StrCat(function_->name(), ": cancelled"); });
  if (waiter_.Cancel(cancelled)) OnWaited(&waiter_, cancelled);
}

}  // namespace takt::runtime
