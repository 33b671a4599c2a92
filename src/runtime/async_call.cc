#include "runtime/async_call.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/call_batch.h"

namespace takt::runtime {
namespace {

using Values = absl::InlinedVector<vm::Value, 12>;

void Tell(const hal::Fence& fence, const absl::Status& outcome) {
  if (outcome.ok()) {
    // Somebody else may have signaled it, or failed it, before.
    fence.Signal().IgnoreError();
  } else {
    fence.Fail(outcome);
  }
}

absl::Status CheckIndices(const Function& function, absl::string_view what,
                          absl::Span<const IndexedFence> fences,
                          size_t index_count) {
  for (const IndexedFence& each : fences) {
    if (each.index < index_count) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(function.name(), ": fence of ", what, " ", each.index,
                     ", but there are ", index_count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<AsyncCall>> AsyncCall::Start(
    Function& function, const AsyncCallOptions& options,
    absl::Span<const vm::Value> arguments, Callback on_done) {
  const Signature& signature = function.signature();
  TAKT_RETURN_IF_ERROR(function.CheckArguments(arguments, /*fences=*/false,
                                               options.future_arguments));
  TAKT_RETURN_IF_ERROR(CheckIndices(function, "argument",
                                    options.argument_fences,
                                    signature.arguments().size()));
  TAKT_RETURN_IF_ERROR(CheckIndices(function, "result", options.result_fences,
                                    signature.results().size()));
  uint32_t batch_row_count = 0;
  if (options.batch && options.future_arguments.empty() &&
      options.result_buffers.empty()) {
    TAKT_ASSIGN_OR_RETURN(const bool batchable,
                          CallBatch::IsBatchable(function));
    if (batchable && options.step_limit == 0 && options.timeout_ns == 0 &&
        CallBatch::CanStack(arguments)) {
      auto* view = DynCast<hal::BufferView>(arguments[0].ref());
      batch_row_count = static_cast<uint32_t>(view->shape()[0]);
    }
  }
  TAKT_ASSIGN_OR_RETURN(Function::Job job, function.FindJob(options));
  Ref<shop::ScheduledJob> known =
      options.shop_job != nullptr
          ? Ref<shop::ScheduledJob>::Retain(options.shop_job)
          : function.BeginJob(job);
  job.attributes.context = known.get();
  TAKT_ASSIGN_OR_RETURN(std::unique_ptr<Timeout> timeout,
                        ReadTimeout(function, options));
  const bool has_timeout = timeout != nullptr;
  if (has_timeout) job.attributes.cancellation = timeout->cancellation.get();
  TAKT_ASSIGN_OR_RETURN(
      std::unique_ptr<ResultBinding> binding,
      function.ReadBinding(options.result_buffers, arguments));
  if (binding != nullptr) job.attributes.results = binding->memory();
  std::vector<Ref<hal::Fence>> ends;
  TAKT_ASSIGN_OR_RETURN(std::unique_ptr<Futures> futures,
                        ReadFutures(function, options, &ends));
  const bool has_futures = futures != nullptr;
  const size_t slot_bytes = SlotCount(function) * sizeof(vm::Value);
  auto invocation = Ref<AsyncCall>::Adopt(
      new (function.context().instance().blocks(), slot_bytes) AsyncCall(
          function, job, std::move(known),
          {std::move(timeout), std::move(futures), std::move(binding)}, options,
          arguments, std::move(on_done)));
  invocation->batch_row_count_ = batch_row_count;
  if (absl::Status status = invocation->TakeShares(options); !status.ok()) {
    if (has_futures) DropFutures(*invocation->extras_.futures);
    return status;
  }

  // From here on nothing fails but the invocation itself.
  invocation->trace_.Begin(job.attributes, options.trace_parent);
  for (size_t i = 0; i < arguments.size() && i < 64; ++i) {
    if ((options.moved_arguments >> i & 1) == 0) continue;
    if (arguments[i].ref() != nullptr) arguments[i].ref()->Release();
  }
  Fences waits;
  if (options.wait != nullptr) waits.push_back(options.wait);
  for (const IndexedFence& each : options.argument_fences) {
    if (each.fence != nullptr) waits.push_back(each.fence);
  }
  for (const Ref<hal::Fence>& end : ends) waits.push_back(end.get());
  invocation->Retain();  // While in flight.
  if (invocation->is_async_ && batch_row_count == 0 && !has_futures) {
    invocation->SetProgramFences(waits, options.cancellable || has_timeout);
    invocation->ArmTimeout();
    invocation->phase_.store(Phase::kQueued, std::memory_order_release);
    function.context().strand().Post(invocation.get(), CallQueue::Where::kHere);
  } else {
    invocation->StartWaiting(waits);
  }
  return invocation;
}

size_t AsyncCall::SlotCount(const Function& function) {
  return std::max(function.signature().arguments().size(),
                  function.signature().results().size());
}

AsyncCall::AsyncCall(Function& function, const Function::Job& job,
                     Ref<shop::ScheduledJob> shop_job, Extras extras,
                     const AsyncCallOptions& options,
                     absl::Span<const vm::Value> arguments, Callback on_done)
    : Object(&kType),
      function_(Ref<Function>::Retain(&function)),
      job_(job.attributes),
      shop_job_(std::move(shop_job)),
      extras_(std::move(extras)),
      on_done_(std::move(on_done)),
      step_limit_(options.step_limit),
      slot_count_(static_cast<uint32_t>(SlotCount(function))),
      is_async_(function.signature().is_async()),
      waiter_(&AsyncCall::OnWaited, this),
      signal_waiter_(&AsyncCall::OnSignal, this) {
  traits = job.traits;
  for (size_t i = 0; i < slot_count_; ++i) {
    new (&slots()[i])
        vm::Value(i < arguments.size() ? arguments[i] : vm::Value());
  }
}

AsyncCall::~AsyncCall() { std::destroy(slots().begin(), slots().end()); }

absl::Status AsyncCall::TakeShares(const AsyncCallOptions& options) {
  absl::InlinedVector<Ref<hal::Fence>, 2> shares;
  if (options.signal != nullptr) {
    TAKT_ASSIGN_OR_RETURN(shares.emplace_back(), options.signal->TakeShare());
  }
  for (const IndexedFence& each : options.result_fences) {
    if (each.fence == nullptr) continue;
    absl::StatusOr<Ref<hal::Fence>> share = each.fence->TakeShare();
    if (!share.ok()) {
      // Shares can't be given back: whoever waits for them should know.
      for (const Ref<hal::Fence>& taken : shares) taken->Fail(share.status());
      return share.status();
    }
    shares.push_back(*std::move(share));
  }
  absl::InlinedVector<hal::Fence*, 2> fences;
  for (const Ref<hal::Fence>& share : shares) {
    share->SetSignaller(function_->signaller());
    fences.push_back(share.get());
  }
  MutexLock lock(&mutex_);
  signal_ = hal::Fence::Join(fences);
  return absl::OkStatus();
}

void AsyncCall::SetProgramFences(const Fences& waits, bool cancellable) {
  BlockPool& blocks = function_->context().instance().blocks();
  program_signal_ = hal::Fence::Create(blocks);
  Ref<hal::Fence> wait = hal::Fence::Join(waits);
  bool reached = true;
  absl::Status status;
  if (wait != nullptr) status = wait->Query(&reached);
  if (status.ok() && reached) return;
  if (status.ok() && cancellable) {
    // From the moment it waits, waiter_ may use these.
    program_wait_ = hal::Fence::Create(blocks);
    is_relayed_ = true;
    Retain();  // While it waits.
    const hal::Fence* const fences[] = {wait.get()};
    if (waiter_.Start(fences, &status)) return;
    Release();
    is_relayed_ = false;
  }
  program_wait_ = std::move(wait);
}

void AsyncCall::StartWaiting(const Fences& waits) {
  absl::Status status;
  Retain();  // While it waits.
  const bool waits_now = waiter_.Start(waits, &status);
  ArmTimeout();
  if (!waits_now) OnWaited(&waiter_, status);
}

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
  return std::make_unique<Timeout>(options.timeout_ns,
                                   function.context().instance().timers());
}

void AsyncCall::ArmTimeout() {
  if (extras_.timeout == nullptr) return;
  MutexLock lock(&mutex_);
  if (phase() == Phase::kDone) return;
  extras_.timeout->invocation = this;
  Retain();  // While it is armed.
  extras_.timeout->timers->Arm(
      extras_.timeout.get(), DeadlineAfter(NowNs(), extras_.timeout->limit_ns));
}

void AsyncCall::Expire() {
  Timeout* const timeout = extras_.timeout.get();
  // If it cannot be taken back, it fires, or the call is done.
  if (timeout != nullptr && timeout->timers->Cancel(timeout)) {
    OnTimeout(timeout);
  }
}

void AsyncCall::OnTimeout(TimerService::Timer* timer) {
  const auto self =
      Ref<AsyncCall>::Adopt(static_cast<Timeout*>(timer)->invocation);
  Timeout& timeout = *self->extras_.timeout;
  timeout.has_passed.store(true);
  timeout.cancellation->Request();
  self->Cancel();
  self->LeaveLine();
  {
    MutexLock lock(&self->mutex_);
    timeout.gives_up = true;
    if (!timeout.awaits_signal) return;
  }
  self->GiveUpSignalWhenIdle();
}

void AsyncCall::LeaveLine() {
  bool found = false;
  function_->context().strand().TakeQueued([&](CallQueue::Turn* turn) {
    if (turn != this) return false;
    found = true;
    return true;
  });
  if (!found) return;
  if (phase() == Phase::kQueued) {
    Complete(LateError());
  } else {
    Take();  // Its program is cancelled: nothing of it runs but its end.
  }
}

absl::Status AsyncCall::LateError() const {
  return absl::DeadlineExceededError(
      absl::StrCat(function_->name(), ": not done within ",
                   extras_.timeout->limit_ns, " ns"));
}

void AsyncCall::CompleteWhenIdle(absl::Status status) {
  extras_.timeout->ending = std::move(status);
  const auto complete = [](void* argument) {
    auto* const self = static_cast<AsyncCall*>(argument);
    self->Complete(self->extras_.timeout->ending);
  };
  if (extras_.timeout->cancellation->IsIdle(complete, this)) complete(this);
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
  if (extras_.timeout->cancellation->IsIdle(give_up, this)) give_up(this);
}

void AsyncCall::OnWaited(hal::FenceWaiter* waiter, const absl::Status& status) {
  AsyncCall* const self = static_cast<Waiter*>(waiter)->invocation;
  const auto hold = Ref<AsyncCall>::Adopt(self);  // The waiter's.
  if (self->is_relayed_) {
    Tell(*self->program_wait_, status);
  } else if (!status.ok()) {
    self->Complete(status);
  } else {
    self->phase_.store(Phase::kQueued, std::memory_order_release);
    if (self->batch_row_count_ != 0) {
      CallBatch::Add(self);
      return;
    }
    if (self->is_async_) self->SetProgramFences({}, /*cancellable=*/false);
    self->function_->context().strand().Post(self, CallQueue::Where::kWorker);
  }
}

void AsyncCall::RunAlone() {
  if (is_async_) SetProgramFences({}, /*cancellable=*/false);
  function_->context().strand().Post(this, CallQueue::Where::kWorker);
}

void AsyncCall::EndInBatch(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    has_results_ = status.ok();
    if (status.ok() && keeper_count_ != 0) KeepResults();
  }
  Complete(status);
}

void AsyncCall::OnWoken(void* self, vm::Invocation& invocation) {
  auto* const invoked = static_cast<AsyncCall*>(self);
  invoked->function_->context().strand().Post(invoked,
                                              CallQueue::Where::kWorker);
}

absl::StatusOr<Ref<vm::Invocation>> AsyncCall::CreateProgram() {
  if (cancelled_.load()) {
    return absl::CancelledError(absl::StrCat(function_->name(), ": cancelled"));
  }
  if (extras_.futures != nullptr) TAKT_RETURN_IF_ERROR(TakeFutures());
  Values values;
  const size_t count = function_->signature().arguments().size();
  for (size_t i = 0; i < count; ++i) values.push_back(std::move(slots()[i]));
  if (is_async_) {
    values.push_back(vm::Value::FromRef(program_wait_));
    values.push_back(vm::Value::FromRef(program_signal_));
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
  return program;
}

void AsyncCall::Take() {
  // A reference of its own, since Run() may end on another thread as soon as
  // it has parked here.
  Ref<vm::Invocation> program;
  const bool is_resumed = phase() != Phase::kQueued;
  if (!is_resumed) {
    absl::StatusOr<Ref<vm::Invocation>> created = CreateProgram();
    if (!created.ok()) {
      Complete(created.status());
      return;
    }
    program = *std::move(created);
    {
      MutexLock lock(&mutex_);
      program_ = program;
      phase_.store(Phase::kRunning, std::memory_order_release);
    }
    // A Cancel() before that has not seen the program.
    if (cancelled_.load()) program->RequestCancel();
  } else {
    MutexLock lock(&mutex_);
    program = program_;
  }
  if (trace_.Run(*program, is_resumed) == vm::Invocation::State::kParked) {
    return;
  }
  program.reset();
  EndProgram();
}

void AsyncCall::EndProgram() {
  Ref<vm::Invocation> program;
  {
    MutexLock lock(&mutex_);
    program = std::move(program_);
  }
  absl::Status status = program->status();
  if (status.ok()) {
    absl::Span<vm::Value> results = program->results();
    std::move(results.begin(), results.end(), slots().begin());
  }
  program.reset();  // What it held is free before anybody is told.
  shop_job_.reset();
  if (status.ok() && extras_.binding != nullptr && !is_async_) {
    status = SettleBinding();
  }
  {
    MutexLock lock(&mutex_);
    // Bound results of an asynchronous function come with its signal.
    has_results_ = status.ok() && (extras_.binding == nullptr || !is_async_);
    if (has_results_ && keeper_count_ != 0) KeepResults();
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
  // Kept by whoever is going to signal it: if nobody is, the wait ends.
  const Ref<hal::Fence> signal = std::move(program_signal_);
  const hal::Fence* const fences[] = {signal.get()};
  absl::Status status;
  // Once it waits, this may be gone.
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
  AsyncCall* const self = static_cast<Waiter*>(waiter)->invocation;
  absl::Status outcome = Annotate(status, self->function_->name());
  if (outcome.ok() && self->extras_.binding != nullptr) {
    outcome = self->SettleBinding();
    MutexLock lock(&self->mutex_);
    self->has_results_ = outcome.ok();
    if (self->has_results_ && self->keeper_count_ != 0) self->KeepResults();
  }
  self->Complete(outcome);
}

absl::Status AsyncCall::SettleBinding() {
  const size_t count = function_->signature().results().size();
  const absl::Status status =
      extras_.binding->Settle(slots().subspan(0, count));
  return Annotate(status, function_->name());
}

void AsyncCall::Complete(absl::Status status) {
  shop_job_.reset();
  if (is_late() && status.code() == absl::StatusCode::kCancelled) {
    status = LateError();
  }
  trace_.End(status);
  bool has_results = false;
  {
    MutexLock lock(&mutex_);
    status_ = status;
    has_results = has_results_;
    phase_.store(Phase::kDone, std::memory_order_release);
  }
  if (extras_.timeout != nullptr &&
      extras_.timeout->timers->Cancel(extras_.timeout.get())) {
    Release();  // The timer's.
  }
  if (!has_results) {
    for (vm::Value& argument : slots()) argument = vm::Value();
  }
  if (extras_.futures != nullptr) DropFutures(*std::move(extras_.futures));
  if (on_done_ != nullptr) std::exchange(on_done_, nullptr)(*this, status);
  Ref<hal::Fence> signal;
  Ref<hal::Fence> end;
  {
    MutexLock lock(&mutex_);
    has_ended_ = true;
    signal = signal_;
    end = end_;
  }
  if (signal != nullptr) Tell(*signal, status);
  if (end != nullptr) Tell(*end, status);
  Release();
}

AsyncCall::State AsyncCall::state() const {
  switch (phase()) {
    case Phase::kWaiting:
    case Phase::kQueued:
      return State::kWaiting;
    case Phase::kRunning:
      return State::kRunning;
    default: {
      bool done = false;
      const absl::Status status = Query(&done);
      return done || !status.ok() ? State::kDone : State::kSubmitted;
    }
  }
}

absl::Status AsyncCall::Query(bool* done) const {
  MutexLock lock(&mutex_);
  *done = phase() == Phase::kDone;
  if (*done) return status_;
  if (phase() != Phase::kSubmitted || signal_ == nullptr) {
    return absl::OkStatus();
  }
  return signal_->Query(done);
}

absl::Status AsyncCall::Wait(int64_t deadline_ns) {
  const Ref<hal::Fence> fence = GetFence();
  BlockingWait thread(function_->context().executor(), traits.lane);
  return WaitForFence(*fence, thread, deadline_ns);
}

Ref<hal::Fence> AsyncCall::GetFence() {
  return GetEndFence(&AsyncCall::signal_);
}

Ref<hal::Fence> AsyncCall::GetEndFence(Ref<hal::Fence> AsyncCall::*which) {
  Ref<hal::Fence> fence;
  absl::Status status;
  {
    MutexLock lock(&mutex_);
    if (this->*which != nullptr) return this->*which;
    this->*which = hal::Fence::Create(function_->context().instance().blocks());
    fence = this->*which;
    if (!has_ended_) return fence;
    status = status_;
  }
  Tell(*fence, status);
  return fence;
}

void AsyncCall::KeepResults() {
  const size_t count = function_->signature().results().size();
  kept_.assign(slots().begin(),
               slots().begin() + static_cast<ptrdiff_t>(count));
}

absl::Status AsyncCall::KeepResult(size_t index, Ref<hal::Fence>* end) {
  const size_t count = function_->signature().results().size();
  if (index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("result ", index, " of ", function_->name(),
                     ", which has ", count, " results"));
  }
  {
    MutexLock lock(&mutex_);
    const bool are_there = status_.ok() && (extras_.binding == nullptr
                                                ? phase() >= Phase::kSubmitted
                                                : phase() == Phase::kDone);
    if (are_there && keeper_count_ == 0) {
      if (!has_results_) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the results of ", function_->name(), " have been taken"));
      }
      KeepResults();
    }
    ++keeper_count_;
  }
  *end = GetEndFence(&AsyncCall::end_);
  (*end)->SetSignaller(function_->signaller());
  return absl::OkStatus();
}

vm::Value AsyncCall::FetchResult(size_t index) {
  vm::Value value;
  std::vector<vm::Value> unused;  // Released without the lock.
  MutexLock lock(&mutex_);
  if (index < kept_.size()) value = kept_[index];
  if (--keeper_count_ == 0) unused = std::move(kept_);
  return value;
}

absl::StatusOr<std::unique_ptr<AsyncCall::Futures>> AsyncCall::ReadFutures(
    const Function& function, const AsyncCallOptions& options,
    std::vector<Ref<hal::Fence>>* ends) {
  if (options.future_arguments.empty()) return nullptr;
  auto futures = std::make_unique<Futures>();
  const auto refuse = [&](const absl::Status& status) {
    DropFutures(*futures);
    return status;
  };
  const auto types = function.signature().arguments();
  for (const FutureArgument& given : options.future_arguments) {
    const std::string where =
        absl::StrCat(function.name(), ": input ", given.index);
    if (given.index >= types.size()) {
      return refuse(absl::InvalidArgumentError(
          absl::StrCat(where, ": there are ", types.size(), " inputs")));
    }
    for (const Future& other : *futures) {
      if (other.index != given.index) continue;
      return refuse(absl::InvalidArgumentError(
          absl::StrCat(where, ": is to come from two calls")));
    }
    AsyncCall* const producer = given.producer;
    if (producer == nullptr) {
      return refuse(absl::InvalidArgumentError(
          absl::StrCat(where, ": the invocation is NULL")));
    }
    const Function& source = producer->function();
    if (&source.context().instance() != &function.context().instance()) {
      return refuse(absl::InvalidArgumentError(
          absl::StrCat(where, ": ", source.name(), " is of another instance")));
    }
    const auto results = source.signature().results();
    if (given.result_index < results.size() &&
        (results[given.result_index].kind == vm::ValueKind::kRef) !=
            (types[given.index].kind == vm::ValueKind::kRef)) {
      return refuse(absl::InvalidArgumentError(absl::StrCat(
          where, ": expected ", vm::ValueKindName(types[given.index].kind),
          ", but result ", given.result_index, " of ", source.name(), " is ",
          vm::ValueKindName(results[given.result_index].kind))));
    }
    Ref<hal::Fence> end;
    const absl::Status status = producer->KeepResult(given.result_index, &end);
    if (!status.ok()) return refuse(Annotate(status, where));
    ends->push_back(std::move(end));
    futures->push_back(
        {given.index, Ref<AsyncCall>::Retain(producer), given.result_index});
  }
  return futures;
}

void AsyncCall::DropFutures(Futures& futures) {
  for (const Future& future : futures) {
    future.producer->FetchResult(future.result_index);
  }
  futures.clear();
}

absl::Status AsyncCall::TakeFutures() {
  const std::unique_ptr<Futures> futures = std::move(extras_.futures);
  absl::Status status;
  for (const Future& future : *futures) {
    vm::Value value = future.producer->FetchResult(future.result_index);
    if (status.ok()) status = function_->CheckArgument(future.index, value);
    if (status.ok()) slots()[future.index] = std::move(value);
  }
  return status;
}

absl::Status AsyncCall::TakeResults(absl::Span<vm::Value> results) {
  const size_t expected = function_->signature().results().size();
  if (results.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(function_->name(), ": expected room for ", expected,
                     " results, got ", results.size()));
  }
  MutexLock lock(&mutex_);
  if (phase() <
      (extras_.binding == nullptr ? Phase::kSubmitted : Phase::kDone)) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the results are not there yet"));
  }
  if (!has_results_) {
    if (!status_.ok()) return status_;
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the results have been taken"));
  }
  has_results_ = false;
  for (size_t i = 0; i < expected; ++i) {
    results[i] = std::move(slots()[i]);
  }
  return absl::OkStatus();
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
  if (phase == Phase::kDone) return;
  const absl::Status cancelled =
      absl::CancelledError(absl::StrCat(function_->name(), ": cancelled"));
  if (waiter_.Cancel(cancelled)) OnWaited(&waiter_, cancelled);
}

}  // namespace takt::runtime
