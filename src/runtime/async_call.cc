#include "runtime/async_call.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "runtime/call_batch.h"
#include "sched/priority.h"

namespace takt::runtime {
namespace {

// The bits of AsyncCallOptions::moved_arguments.
constexpr size_t kMovableArgumentCount = 64;

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

// The rows of each argument if the call may be batched; else 0.
absl::StatusOr<uint32_t> FindBatchRows(const Function& function,
                                       const AsyncCallOptions& options,
                                       absl::Span<const vm::Value> arguments) {
  if (!options.batch || !options.future_arguments.empty() ||
      !options.result_buffers.empty()) {
    return 0;
  }
  TAKT_ASSIGN_OR_RETURN(const bool is_batchable,
                        CallBatch::IsBatchable(function));
  if (!is_batchable || options.step_limit != 0 || options.timeout_ns != 0 ||
      !CallBatch::CanStack(arguments)) {
    return 0;
  }
  auto* view = DynCast<hal::BufferView>(arguments[0].ref());
  return static_cast<uint32_t>(view->shape()[0]);
}

// The call, as what it waits for sees it. Null without an executor, which
// orders nothing.
Ref<Borrower> MakeBorrower(const Function& function, const Function::Job& job,
                           shop::ScheduledJob* shop_job) {
  if (function.context().executor() == nullptr) return nullptr;
  JobUrgency own;
  own.criticality = JobUrgency::Criticality::kSoft;
  own.priority = job.attributes.priority;
  own.deadline_ns = job.attributes.deadline_ns;
  if (shop_job != nullptr) {
    // A job that may miss is a criticality lower.
    const bool may_miss = shop_job->may_miss();
    switch (shop_job->stream().requirements().criticality) {
      case sched::Criticality::kHard:
        own.criticality = may_miss ? JobUrgency::Criticality::kSoft
                                   : JobUrgency::Criticality::kHard;
        break;
      case sched::Criticality::kSoft:
        if (may_miss) own.criticality = JobUrgency::Criticality::kBestEffort;
        break;
      case sched::Criticality::kBestEffort:
        own.criticality = JobUrgency::Criticality::kBestEffort;
        break;
    }
  }
  Ref<Borrower> borrower =
      Borrower::Create(function.context().instance().blocks(), own);
  if (shop_job != nullptr) shop_job->SetBorrower(borrower.get());
  return borrower;
}

}  // namespace

absl::StatusOr<Ref<AsyncCall>> AsyncCall::TryStart(
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
  TAKT_ASSIGN_OR_RETURN(const uint32_t batch_row_count,
                        FindBatchRows(function, options, arguments));
  TAKT_ASSIGN_OR_RETURN(Function::Job job, function.FindJob(options));
  Ref<shop::ScheduledJob> known =
      options.shop_job != nullptr
          ? Ref<shop::ScheduledJob>::Retain(options.shop_job)
          : function.BeginJob(job);
  job.attributes.context = known.get();
  const Ref<Borrower> borrower = MakeBorrower(function, job, known.get());
  job.attributes.borrower = borrower.get();
  std::vector<Ref<hal::Fence>> ends;
  TAKT_ASSIGN_OR_RETURN(Extras extras,
                        ReadExtras(function, options, arguments, &ends));
  job.attributes.cancellation = extras.cancellation.get();
  if (extras.binding != nullptr) {
    job.attributes.results = extras.binding->memory();
  }
  const size_t slot_bytes = SlotCount(function) * sizeof(vm::Value);
  auto call = Ref<AsyncCall>::Adopt(
      new (function.context().instance().blocks(), slot_bytes)
          AsyncCall(function, job, borrower, std::move(known),
                    std::move(extras), options, arguments, std::move(on_done)));
  call->batch_row_count_ = batch_row_count;
  TAKT_RETURN_IF_ERROR(call->TakeShares(options));

  // From here on errors end the call; they are not returned.
  call->trace_.Begin(job.attributes, options.trace_parent);
  for (size_t i = 0; i < arguments.size() && i < kMovableArgumentCount; ++i) {
    if ((options.moved_arguments >> i & 1) == 0) continue;
    if (arguments[i].ref() != nullptr) arguments[i].ref()->Release();
  }
  call->Submit(options, ends);
  return call;
}

absl::StatusOr<AsyncCall::Extras> AsyncCall::ReadExtras(
    const Function& function, const AsyncCallOptions& options,
    absl::Span<const vm::Value> arguments,
    std::vector<Ref<hal::Fence>>* producer_ends) {
  Extras extras;
  TAKT_ASSIGN_OR_RETURN(extras.timeout, ReadTimeout(function, options));
  // Also without a time limit: a kernel in bytecode may never end.
  extras.cancellation = Cancellation::Create(
      function.context().instance().blocks(),
      extras.timeout != nullptr ? Cancellation::Scope::kAllWork
                                : Cancellation::Scope::kKernels,
      options.step_limit);
  TAKT_ASSIGN_OR_RETURN(
      extras.binding, function.ReadBinding(options.result_buffers, arguments));
  TAKT_ASSIGN_OR_RETURN(
      extras.futures, ArgumentFutures::Read(function, options, producer_ends));
  return extras;
}

void AsyncCall::Submit(const AsyncCallOptions& options,
                       absl::Span<const Ref<hal::Fence>> producer_ends) {
  TAKT_CHECK(phase() == Phase::kWaiting);
  Retain();  // While in flight.
  const bool is_posted =
      is_async_ && batch_row_count_ == 0 && extras_.futures == nullptr;
  Fences waits;
  TAKT_TRY {
    if (options.wait != nullptr) waits.push_back(options.wait);
    for (const IndexedFence& each : options.argument_fences) {
      if (each.fence != nullptr) waits.push_back(each.fence);
    }
    for (const Ref<hal::Fence>& end : producer_ends) waits.push_back(end.get());
    if (borrower_ != nullptr) borrower_->Observe(this);
    if (is_posted) {
      SetProgramFences(waits,
                       options.cancellable || extras_.timeout != nullptr);
    }
  }
  TAKT_CATCH(const std::bad_alloc&) {
    Complete(OutOfMemory());
    return;
  }
  if (is_posted) {
    ArmTimeout();
    phase_.store(Phase::kQueued, std::memory_order_release);
    function_->context().call_queue().Post(this, CallQueue::Where::kHere);
  } else {
    StartWaiting(waits);
  }
}

size_t AsyncCall::SlotCount(const Function& function) {
  return std::max(function.signature().arguments().size(),
                  function.signature().results().size());
}

AsyncCall::AsyncCall(Function& function, const Function::Job& job,
                     Ref<Borrower> borrower, Ref<shop::ScheduledJob> shop_job,
                     Extras extras, const AsyncCallOptions& options,
                     absl::Span<const vm::Value> arguments, Callback on_done)
    : Object(&kType),
      function_(Ref<Function>::Retain(&function)),
      job_(job.attributes),
      borrower_(std::move(borrower)),
      shop_job_(std::move(shop_job)),
      extras_(std::move(extras)),
      on_done_(std::move(on_done)),
      step_limit_(options.step_limit),
      slot_count_(static_cast<uint32_t>(SlotCount(function))),
      is_async_(function.signature().is_async()),
      waiter_(&AsyncCall::OnWaited, this),
      signal_waiter_(&AsyncCall::OnSignal, this) {
  traits = job.traits;
  // The scheduler knows what the call asks for once its program has issued it.
  if (shop_job_ != nullptr && shop_job_->stream().has_share()) {
    first_lane = exec::LaneOf(sched::kBelowHardPriority);
  }
  for (size_t i = 0; i < slot_count_; ++i) {
    new (&slots()[i])
        vm::Value(i < arguments.size() ? arguments[i] : vm::Value());
  }
}

AsyncCall::~AsyncCall() {
  // Start() may have failed before the call was in flight.
  TAKT_CHECK(phase() == Phase::kDone || phase() == Phase::kWaiting);
  TAKT_CHECK(program_ == nullptr);
  std::destroy(slots().begin(), slots().end());
}

absl::Status AsyncCall::TakeShares(const AsyncCallOptions& options) {
  Shares shares;
  const absl::Status status =
      Attempt([&] { return TryTakeShares(options, &shares); });
  if (status.ok()) return status;
  // A share cannot be given back, so the waiters get the error.
  for (const Ref<hal::Fence>& taken : shares) taken->Fail(status);
  return status;
}

absl::Status AsyncCall::TryTakeShares(const AsyncCallOptions& options,
                                      Shares* shares) {
  shares->reserve(1 + options.result_fences.size());
  const auto take = [&](hal::Fence* fence) {
    if (fence == nullptr) return absl::OkStatus();
    TAKT_ASSIGN_OR_RETURN(Ref<hal::Fence> share, fence->TakeShare());
    shares->push_back(std::move(share));
    return absl::OkStatus();
  };
  TAKT_RETURN_IF_ERROR(take(options.signal));
  for (const IndexedFence& each : options.result_fences) {
    TAKT_RETURN_IF_ERROR(take(each.fence));
  }
  absl::InlinedVector<hal::Fence*, 2> fences;
  for (const Ref<hal::Fence>& share : *shares) {
    share->SetSignaller(function_->signaller(), borrower_.get());
    fences.push_back(share.get());
  }
  MutexLock lock(&mutex_);
  signal_ = hal::Fence::Join(fences, &function_->context().instance().blocks());
  return absl::OkStatus();
}

void AsyncCall::StartWaiting(const Fences& waits) {
  absl::Status status;
  Retain();  // While it waits.
  const bool waits_now = waiter_.Start(waits, &status, borrower_.get());
  ArmTimeout();
  if (!waits_now) OnWaited(&waiter_, status);
}

void AsyncCall::OnWaited(hal::FenceWaiter* waiter, const absl::Status& status) {
  AsyncCall* const self = static_cast<Waiter*>(waiter)->call;
  const auto hold = Ref<AsyncCall>::Adopt(self);  // The waiter's.
  if (self->is_relayed_) {
    self->program_wait_->Settle(status);
  } else if (!status.ok()) {
    self->Complete(status);
  } else {
    TAKT_CHECK(self->phase() == Phase::kWaiting);
    self->phase_.store(Phase::kQueued, std::memory_order_release);
    if (self->batch_row_count_ != 0) {
      CallBatch::Add(self);
      return;
    }
    self->QueueProgram();
  }
}

void AsyncCall::Complete(absl::Status status) {
  if (borrower_ != nullptr) borrower_->Unobserve(this);
  shop_job_.reset();
  if (is_late() && status.code() == absl::StatusCode::kCancelled) {
    status = LateError();
  }
  trace_.End(status);
  bool has_results = false;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(phase() != Phase::kDone && !has_ended_);
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
  extras_.futures.reset();
  if (on_done_ != nullptr) std::exchange(on_done_, nullptr)(*this, status);
  Ref<hal::Fence> signal;
  Ref<hal::Fence> end;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(phase() == Phase::kDone && !has_ended_);
    has_ended_ = true;
    signal = signal_;
    end = end_;
  }
  if (signal != nullptr) signal->Settle(status);
  if (end != nullptr) end->Settle(status);
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
    fence = hal::Fence::Create(function_->context().instance().blocks());
    fence->SetSignaller(function_->signaller(), borrower_.get());
    this->*which = fence;
    if (!has_ended_) return fence;
    status = status_;
  }
  fence->Settle(status);
  return fence;
}

}  // namespace takt::runtime
