#include "api/async_invocation.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "api/async_batch.h"
#include "api/handle.h"
#include "api/value.h"
#include "base/check.h"

namespace takt::api {
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
                          const takt_indexed_fence_t* fences, size_t count,
                          size_t index_count) {
  if (count != 0) {
    TAKT_RETURN_IF_ERROR(Require(fences, absl::StrCat(what, "_fences")));
  }
  for (size_t i = 0; i < count; ++i) {
    if (fences[i].index < index_count) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(function.name(), ": fence of ", what, " ", fences[i].index,
                     ", but there are ", index_count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<AsyncInvocation>> AsyncInvocation::Start(
    Function& function, const takt_async_options_t& options,
    absl::Span<const takt_value_t> arguments, hal::Fence* wait,
    hal::Fence* signal, uint64_t trace_parent, shop::Job* shop_job) {
  const Signature& signature = function.signature();
  TAKT_RETURN_IF_ERROR(function.CheckArguments(arguments, /*fences=*/false));
  TAKT_RETURN_IF_ERROR(
      CheckIndices(function, "argument", options.argument_fences,
                   options.argument_fence_count, signature.arguments().size()));
  TAKT_RETURN_IF_ERROR(CheckIndices(function, "result", options.result_fences,
                                    options.result_fence_count,
                                    signature.results().size()));
  uint32_t batch_row_count = 0;
  if (options.batch) {
    TAKT_ASSIGN_OR_RETURN(const bool batchable,
                          AsyncBatch::IsBatchable(function));
    if (batchable && options.step_limit == 0 &&
        AsyncBatch::CanStack(arguments)) {
      auto* view = Unwrap(takt_value_as_buffer_view(&arguments[0]));
      batch_row_count = static_cast<uint32_t>(view->shape()[0]);
    }
  }
  TAKT_ASSIGN_OR_RETURN(Function::Job job,
                        function.FindJob(JobOptions(options)));
  Ref<shop::Job> known = shop_job != nullptr ? Ref<shop::Job>::Retain(shop_job)
                                             : function.BeginJob(job);
  job.attributes.shop_job = known.get();
  const size_t slot_bytes = SlotCount(function) * sizeof(vm::Value);
  auto invocation = Ref<AsyncInvocation>::Adopt(
      new (function.context().instance().blocks(), slot_bytes)
          AsyncInvocation(function, job, std::move(known), options, arguments));
  invocation->batch_row_count_ = batch_row_count;
  TAKT_RETURN_IF_ERROR(invocation->TakeShares(options, signal));

  // From here on nothing fails but the invocation itself.
  invocation->trace_.Begin(job.attributes, trace_parent);
  for (size_t i = 0; i < arguments.size() && i < 64; ++i) {
    if ((options.moved_arguments >> i & 1) == 0) continue;
    if (arguments[i].kind == TAKT_VALUE_REF) {
      takt_object_release(arguments[i].ref);
    }
  }
  Fences waits;
  if (wait != nullptr) waits.push_back(wait);
  for (size_t i = 0; i < options.argument_fence_count; ++i) {
    hal::Fence* const fence = Unwrap(options.argument_fences[i].fence);
    if (fence != nullptr) waits.push_back(fence);
  }
  invocation->Retain();  // While in flight.
  if (invocation->is_async_ && batch_row_count == 0) {
    invocation->SetProgramFences(waits, options.cancellable);
    invocation->phase_.store(Phase::kQueued, std::memory_order_release);
    function.context().strand().Post(invocation.get(),
                                     AsyncStrand::Where::kHere);
  } else {
    invocation->StartWaiting(waits);
  }
  return invocation;
}

size_t AsyncInvocation::SlotCount(const Function& function) {
  return std::max(function.signature().arguments().size(),
                  function.signature().results().size());
}

AsyncInvocation::AsyncInvocation(Function& function, const Function::Job& job,
                                 Ref<shop::Job> shop_job,
                                 const takt_async_options_t& options,
                                 absl::Span<const takt_value_t> arguments)
    : Object(&kType),
      function_(Ref<Function>::Retain(&function)),
      job_(job.attributes),
      shop_job_(std::move(shop_job)),
      on_done_(options.on_done),
      user_data_(options.user_data),
      step_limit_(options.step_limit),
      slot_count_(static_cast<uint32_t>(SlotCount(function))),
      is_async_(function.signature().is_async()),
      waiter_(&AsyncInvocation::OnWaited, this),
      signal_waiter_(&AsyncInvocation::OnSignal, this) {
  standing = job.standing;
  for (size_t i = 0; i < slot_count_; ++i) {
    new (&slots()[i])
        vm::Value(i < arguments.size() ? ToVmValue(arguments[i]) : vm::Value());
  }
}

AsyncInvocation::~AsyncInvocation() {
  std::destroy(slots().begin(), slots().end());
}

absl::Status AsyncInvocation::TakeShares(const takt_async_options_t& options,
                                         hal::Fence* signal) {
  absl::InlinedVector<Ref<hal::Fence>, 2> shares;
  if (signal != nullptr) {
    TAKT_ASSIGN_OR_RETURN(shares.emplace_back(), signal->TakeShare());
  }
  for (size_t i = 0; i < options.result_fence_count; ++i) {
    hal::Fence* const fence = Unwrap(options.result_fences[i].fence);
    if (fence == nullptr) continue;
    absl::StatusOr<Ref<hal::Fence>> share = fence->TakeShare();
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

void AsyncInvocation::SetProgramFences(const Fences& waits, bool cancellable) {
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

void AsyncInvocation::StartWaiting(const Fences& waits) {
  absl::Status status;
  Retain();  // While it waits.
  if (waiter_.Start(waits, &status)) return;
  OnWaited(&waiter_, status);
}

void AsyncInvocation::OnWaited(hal::FenceWaiter* waiter,
                               const absl::Status& status) {
  AsyncInvocation* const self = static_cast<Waiter*>(waiter)->invocation;
  const auto hold = Ref<AsyncInvocation>::Adopt(self);  // The waiter's.
  if (self->is_relayed_) {
    Tell(*self->program_wait_, status);
  } else if (!status.ok()) {
    self->Complete(status);
  } else {
    self->phase_.store(Phase::kQueued, std::memory_order_release);
    if (self->batch_row_count_ != 0) {
      AsyncBatch::Add(self);
      return;
    }
    self->function_->context().strand().Post(self, AsyncStrand::Where::kWorker);
  }
}

void AsyncInvocation::RunAlone() {
  if (is_async_) SetProgramFences({}, /*cancellable=*/false);
  function_->context().strand().Post(this, AsyncStrand::Where::kWorker);
}

void AsyncInvocation::EndInBatch(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    has_results_ = status.ok();
  }
  Complete(status);
}

void AsyncInvocation::OnWoken(void* self, vm::Invocation& invocation) {
  auto* const invoked = static_cast<AsyncInvocation*>(self);
  invoked->function_->context().strand().Post(invoked,
                                              AsyncStrand::Where::kWorker);
}

absl::StatusOr<Ref<vm::Invocation>> AsyncInvocation::CreateProgram() {
  if (cancelled_.load()) {
    return absl::CancelledError(absl::StrCat(function_->name(), ": cancelled"));
  }
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
  program->SetOnWoken(&AsyncInvocation::OnWoken, this);
  return program;
}

void AsyncInvocation::Take() {
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

void AsyncInvocation::EndProgram() {
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
  {
    MutexLock lock(&mutex_);
    has_results_ = status.ok();
    if (is_async_ && status.ok()) {
      phase_.store(Phase::kSubmitted, std::memory_order_release);
    }
  }
  if (!is_async_ || !status.ok()) {
    Complete(std::move(status));
  } else {
    AwaitSignal();
  }
}

void AsyncInvocation::AwaitSignal() {
  // Kept by whoever is going to signal it: if nobody is, the wait ends.
  const Ref<hal::Fence> signal = std::move(program_signal_);
  const hal::Fence* const fences[] = {signal.get()};
  absl::Status status;
  if (signal_waiter_.Start(fences, &status)) return;
  OnSignal(&signal_waiter_, status);
}

void AsyncInvocation::OnSignal(hal::FenceWaiter* waiter,
                               const absl::Status& status) {
  AsyncInvocation* const self = static_cast<Waiter*>(waiter)->invocation;
  self->Complete(Annotate(status, self->function_->name()));
}

void AsyncInvocation::Complete(absl::Status status) {
  shop_job_.reset();
  trace_.End(status);
  bool has_results = false;
  {
    MutexLock lock(&mutex_);
    status_ = status;
    has_results = has_results_;
    phase_.store(Phase::kDone, std::memory_order_release);
  }
  if (!has_results) {
    for (vm::Value& argument : slots()) argument = vm::Value();
  }
  if (on_done_ != nullptr) {
    on_done_(user_data_, Wrap(this), ToStatus("takt_async_invoke", status));
  }
  Ref<hal::Fence> signal;
  {
    MutexLock lock(&mutex_);
    has_ended_ = true;
    signal = signal_;
  }
  if (signal != nullptr) Tell(*signal, status);
  Release();
}

takt_invocation_state_t AsyncInvocation::state() const {
  switch (phase()) {
    case Phase::kWaiting:
    case Phase::kQueued:
      return TAKT_INVOCATION_WAITING;
    case Phase::kRunning:
      return TAKT_INVOCATION_RUNNING;
    default: {
      bool done = false;
      const absl::Status status = Query(&done);
      return done || !status.ok() ? TAKT_INVOCATION_DONE
                                  : TAKT_INVOCATION_SUBMITTED;
    }
  }
}

absl::Status AsyncInvocation::Query(bool* done) const {
  MutexLock lock(&mutex_);
  *done = phase() == Phase::kDone;
  if (*done) return status_;
  if (phase() != Phase::kSubmitted || signal_ == nullptr) {
    return absl::OkStatus();
  }
  return signal_->Query(done);
}

absl::Status AsyncInvocation::Wait(int64_t deadline_ns) {
  const Ref<hal::Fence> fence = GetFence();
  SyncWait thread(function_->context().executor(), standing.lane);
  return WaitForFence(*fence, thread, deadline_ns);
}

Ref<hal::Fence> AsyncInvocation::GetFence() {
  Ref<hal::Fence> fence;
  absl::Status status;
  {
    MutexLock lock(&mutex_);
    if (signal_ != nullptr) return signal_;
    signal_ = hal::Fence::Create(function_->context().instance().blocks());
    fence = signal_;
    if (!has_ended_) return fence;
    status = status_;
  }
  Tell(*fence, status);
  return fence;
}

absl::Status AsyncInvocation::TakeResults(absl::Span<takt_value_t> results) {
  const size_t expected = function_->signature().results().size();
  if (results.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(function_->name(), ": expected room for ", expected,
                     " results, got ", results.size()));
  }
  MutexLock lock(&mutex_);
  if (phase() < Phase::kSubmitted) {
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
    results[i] = TakeVmValue(std::move(slots()[i]));
  }
  return absl::OkStatus();
}

void AsyncInvocation::Cancel() {
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

}  // namespace takt::api

using takt::Ref;
using takt::api::AsyncInvocation;
using takt::api::ToStatus;
using takt::api::Unwrap;
using takt::api::Wrap;

namespace {

absl::StatusOr<Ref<AsyncInvocation>> Invoke(
    takt::api::Function* function, const takt_async_options_t* options,
    absl::Span<const takt_value_t> arguments, takt_fence_t* wait,
    takt_fence_t* signal) {
  TAKT_ASSIGN_OR_RETURN(
      const takt_async_options_t given,
      takt::api::ReadOptions(options, &takt_async_options_init));
  return AsyncInvocation::Start(*function, given, arguments, Unwrap(wait),
                                Unwrap(signal));
}

}  // namespace

takt_status_t takt_async_invoke(takt_function_t* function,
                                const takt_async_options_t* options,
                                size_t argument_count,
                                const takt_value_t* arguments,
                                takt_fence_t* wait_fence,
                                takt_fence_t* signal_fence,
                                takt_invocation_t** out_invocation) {
  TAKT_REQUIRE(function, Items(argument_count, arguments),
               Optional(out_invocation));
  takt_invocation_t* ignored = nullptr;
  if (out_invocation == nullptr) out_invocation = &ignored;
  takt_status_t status = takt::api::Give(
      __func__,
      Invoke(Unwrap(function), options, {arguments, argument_count}, wait_fence,
             signal_fence),
      out_invocation);
  takt_invocation_release(ignored);
  return status;
}

void takt_invocation_retain(takt_invocation_t* invocation) {
  takt::api::RetainHandle(invocation);
}

void takt_invocation_release(takt_invocation_t* invocation) {
  takt::api::ReleaseHandle(invocation);
}

takt_function_t* takt_invocation_function(const takt_invocation_t* invocation) {
  TAKT_REQUIRE_OR(nullptr, invocation);
  return Wrap(&Unwrap(invocation)->function());
}

takt_invocation_state_t takt_invocation_state(
    const takt_invocation_t* invocation) {
  TAKT_REQUIRE_OR(TAKT_INVOCATION_DONE, invocation);
  return Unwrap(invocation)->state();
}

takt_status_t takt_invocation_query(const takt_invocation_t* invocation,
                                    bool* out_done) {
  TAKT_REQUIRE(invocation, out_done);
  return ToStatus(__func__, Unwrap(invocation)->Query(out_done));
}

takt_status_t takt_invocation_wait(takt_invocation_t* invocation,
                                   int64_t deadline_ns) {
  TAKT_REQUIRE(invocation);
  return ToStatus(__func__, Unwrap(invocation)->Wait(deadline_ns));
}

takt_status_t takt_invocation_fence(takt_invocation_t* invocation,
                                    takt_fence_t** out_fence) {
  TAKT_REQUIRE(invocation, out_fence);
  return takt::api::Give(
      __func__,
      absl::StatusOr<Ref<takt::hal::Fence>>(Unwrap(invocation)->GetFence()),
      out_fence);
}

takt_status_t takt_invocation_take_results(takt_invocation_t* invocation,
                                           size_t result_count,
                                           takt_value_t* out_results) {
  TAKT_REQUIRE(invocation, Items(result_count, out_results));
  if (result_count != 0) {
    std::memset(out_results, 0, result_count * sizeof(*out_results));
  }
  return ToStatus(__func__,
                  Unwrap(invocation)->TakeResults({out_results, result_count}));
}

void takt_invocation_cancel(takt_invocation_t* invocation) {
  TAKT_IGNORE_NULL(invocation);
  Unwrap(invocation)->Cancel();
}
