// Asynchronous calls: the program, from its turn to the end of its device work.
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/cancellation.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "runtime/async_call.h"

namespace takt::runtime {
namespace {

using Values = absl::InlinedVector<vm::Value, 12>;

}  // namespace

void AsyncCall::SetProgramFences(const Fences& waits, bool cancellable) {
  BlockPool& blocks = function_->context().instance().blocks();
  program_signal_ = hal::Fence::Create(blocks);
  Ref<hal::Fence> wait = hal::Fence::Join(waits, &blocks);
  bool reached = true;
  absl::Status status;
  if (wait != nullptr) status = wait->Query(&reached);
  if (status.ok() && reached) return;
  if (status.ok() && cancellable) {
    // waiter_ may use these as soon as it waits.
    program_wait_ = hal::Fence::Create(blocks);
    is_relayed_ = true;
    Retain();  // While it waits.
    const hal::Fence* const fences[] = {wait.get()};
    if (waiter_.Start(fences, &status, borrower_.get())) return;
    Release();
    is_relayed_ = false;
    program_wait_->Settle(status);
    return;
  }
  program_wait_ = std::move(wait);
}

void AsyncCall::RunAlone() {
  TAKT_CHECK(phase() == Phase::kQueued && batch_row_count_ != 0);
  QueueProgram();
}

void AsyncCall::QueueProgram() {
  TAKT_TRY {
    if (is_async_) SetProgramFences({}, /*cancellable=*/false);
  }
  TAKT_CATCH(const std::bad_alloc&) { return Complete(OutOfMemory()); }
  function_->context().call_queue().Post(this, CallQueue::Where::kWorker);
}

void AsyncCall::EndInBatch(const absl::Status& status) {
  TAKT_CHECK(phase() == Phase::kQueued && batch_row_count_ != 0);
  {
    MutexLock lock(&mutex_);
    SetHasResults(status.ok());
  }
  Complete(status);
}

void AsyncCall::OnWoken(void* self, vm::Invocation& invocation) {
  auto* const invoked = static_cast<AsyncCall*>(self);
  invoked->function_->context().call_queue().Post(invoked,
                                                  CallQueue::Where::kWorker);
}

absl::StatusOr<Ref<vm::Invocation>> AsyncCall::CreateProgram() {
  if (cancelled_.load()) {
    return absl::CancelledError(absl::StrCat(function_->name(), ": cancelled"));
  }
  if (extras_.futures != nullptr) {
    const auto futures = std::move(extras_.futures);
    TAKT_RETURN_IF_ERROR(futures->Fetch(*function_, slots()));
  }
  Values values;
  const size_t count = function_->signature().arguments().size();
  for (size_t i = 0; i < count; ++i) values.push_back(std::move(slots()[i]));
  if (is_async_) {
    values.push_back(vm::Value::FromRef(program_wait_));
    values.push_back(vm::Value::FromRef(program_signal_));
    if (extras_.binding != nullptr) {
      extras_.binding->memory()->SetEnd(program_signal_.get());
    }
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Invocation> program,
      vm::Invocation::Create(function_->context().vm(), function_->ref(),
                             absl::MakeSpan(values),
                             vm::Invocation::ArgumentRefs::kTake));
  if (step_limit_ != 0) program->SetStepLimit(step_limit_);
  JobAttributes recorded = job_;
  recorded.trace_id = trace_.id();
  program->SetJob(recorded);
  program->SetOnWoken(&AsyncCall::OnWoken, this);
  if (function_->context().executor() != nullptr) {
    program->SetInterrupter(&AsyncCall::IsInterrupted, this);
  }
  return program;
}

bool AsyncCall::IsInterrupted(void* self) {
  auto* const call = static_cast<AsyncCall*>(self);
  return call->function_->context().executor()->MustInterrupt(call->traits);
}

CallQueue::Turn::Progress AsyncCall::Take() {
  // A second reference: as soon as the program has parked here, another thread
  // may run it to its end.
  Ref<vm::Invocation> program;
  const bool is_resumed = phase() != Phase::kQueued;
  if (!is_resumed) {
    absl::StatusOr<Ref<vm::Invocation>> created = OutOfMemory();
    TAKT_TRY { created = CreateProgram(); }
    TAKT_CATCH(const std::bad_alloc&) {}
    if (!created.ok()) {
      Complete(created.status());
      return Progress::kDone;
    }
    program = *std::move(created);
    {
      MutexLock lock(&mutex_);
      TAKT_CHECK(program_ == nullptr);
      program_ = program;
      phase_.store(Phase::kRunning, std::memory_order_release);
    }
    // A Cancel() before the store has not seen the program.
    if (cancelled_.load()) program->RequestCancel();
  } else {
    MutexLock lock(&mutex_);
    TAKT_CHECK(phase() == Phase::kRunning);
    program = program_;
  }
  TAKT_CHECK(program != nullptr);
  switch (trace_.Run(*program, is_resumed)) {
    case vm::Invocation::State::kParked:
      return Progress::kDone;
    case vm::Invocation::State::kReady:
      return Progress::kInterrupted;
    default:
      break;
  }
  program.reset();
  EndProgram();
  return Progress::kDone;
}

void AsyncCall::EndProgram() {
  Ref<vm::Invocation> program;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(phase() == Phase::kRunning);
    program = std::move(program_);
  }
  absl::Status status = program->status();
  if (status.ok()) {
    absl::Span<vm::Value> results = program->results();
    std::move(results.begin(), results.end(), slots().begin());
  }
  program.reset();  // Frees what it held before the callback runs.
  // A reference would be a right to signal the caller's fences.
  if (!is_relayed_) program_wait_.reset();
  shop_job_.reset();
  if (status.ok() && extras_.binding != nullptr && !is_async_) {
    status = SettleBinding();
  }
  {
    MutexLock lock(&mutex_);
    // Bound results of an asynchronous function are there with its signal.
    SetHasResults(status.ok() && (extras_.binding == nullptr || !is_async_));
    if (is_async_ && status.ok()) {
      phase_.store(Phase::kSubmitted, std::memory_order_release);
    }
  }
  if (is_async_ && status.ok()) {
    AwaitSignal();
  } else if (is_late()) {
    CompleteWhenIdle(std::move(status));
  } else {
    Complete(std::move(status));
  }
}

void AsyncCall::AwaitSignal() {
  TAKT_CHECK(phase() == Phase::kSubmitted && program_signal_ != nullptr);
  // The parties that will signal the fence keep it. Without any, the wait
  // ends.
  const Ref<hal::Fence> signal = std::move(program_signal_);
  const hal::Fence* const fences[] = {signal.get()};
  absl::Status status;
  // As soon as the waiter waits, this may be destroyed.
  const Ref<AsyncCall> hold =
      Ref<AsyncCall>::Retain(extras_.timeout != nullptr ? this : nullptr);
  if (!signal_waiter_.Start(fences, &status)) {
    OnSignal(&signal_waiter_, status);
    return;
  }
  if (hold == nullptr) return;
  {
    MutexLock lock(&mutex_);
    extras_.timeout->awaits_signal = true;
    if (!extras_.timeout->gives_up) return;
  }
  GiveUpSignalWhenIdle();
}

void AsyncCall::OnSignal(hal::FenceWaiter* waiter, const absl::Status& status) {
  AsyncCall* const self = static_cast<Waiter*>(waiter)->call;
  absl::Status outcome = Annotate(status, self->function_->name());
  if (outcome.ok() && self->extras_.binding != nullptr) {
    outcome = self->SettleBinding();
    MutexLock lock(&self->mutex_);
    self->SetHasResults(outcome.ok());
  }
  self->Complete(outcome);
}

int32_t AsyncCall::LoanLane() const {
  return borrower_ != nullptr && borrower_->has_loan()
             ? exec::LaneOf(borrower_->urgency().priority)
             : exec::Job::kNotRaised;
}

void AsyncCall::OnUrgency(const JobUrgency&, Borrower::Calls*) {
  // A program that has ended waits for no turn.
  const Phase now = phase();
  if (now == Phase::kQueued || now == Phase::kRunning) {
    function_->context().call_queue().ReviewLoans();
  }
}

}  // namespace takt::runtime
