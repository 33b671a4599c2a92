#include "runtime/call.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "hal/fence.h"
#include "runtime/async_call.h"
#include "runtime/blocking_wait.h"
#include "runtime/call_trace.h"
#include "vm/invocation.h"

namespace takt::runtime {
namespace {

// A call passes few values; longer argument lists go to the heap.
using Values = absl::InlinedVector<vm::Value, 12>;

absl::Status Run(const Function& function, uint64_t step_limit,
                 const JobAttributes& job, absl::Span<vm::Value> arguments,
                 BlockingWait& thread, absl::Span<vm::Value> results) {
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Invocation> invocation,
      vm::Invocation::Create(function.context().vm(), function.ref(), arguments,
                             vm::Invocation::ArgumentRefs::kTake));
  JobAttributes recorded = job;
  Ref<Cancellation> cancellation;  // Limits the kernels of the call.
  if (step_limit != 0) {
    invocation->SetStepLimit(step_limit);
    cancellation =
        Cancellation::Create(function.context().instance().blocks(),
                             Cancellation::Scope::kKernels, step_limit);
    recorded.cancellation = cancellation.get();
  }
  CallTrace trace(function);
  trace.Begin(job, /*parent=*/0);
  recorded.trace_id = trace.id();
  invocation->SetJob(recorded);
  invocation->SetOnWoken(
      [](void* argument, vm::Invocation&) {
        static_cast<BlockingWait*>(argument)->Notify();
      },
      &thread);
  CallQueue& queue = function.context().call_queue();
  for (bool is_resumed = false;; is_resumed = true) {
    const bool entered = queue.Enter(thread);
    const vm::Invocation::State state = trace.Run(*invocation, is_resumed);
    if (entered) queue.Leave();
    if (state == vm::Invocation::State::kDone) break;
    thread.WaitUntilNotified(kInfiniteFuture);
  }
  trace.End(invocation->status());
  TAKT_RETURN_IF_ERROR(invocation->status());
  absl::Span<vm::Value> values = invocation->results();
  TAKT_DCHECK(values.size() == results.size());
  std::move(values.begin(), values.begin() + results.size(), results.begin());
  return absl::OkStatus();
}

absl::Status CallWithTimeout(Function& function, const CallOptions& options,
                             absl::Span<const vm::Value> arguments,
                             absl::Span<vm::Value> results) {
  if (arguments.size() > function.signature().arguments().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        function.name(),
        ": options: timeout_ns: the call does not wait, since it is "
        "given fences; an asynchronous call takes both"));
  }
  if (function.context().call_queue().RunsHere()) {
    return absl::FailedPreconditionError(absl::StrCat(
        function.name(),
        ": options: timeout_ns: not in a call that a program of the "
        "same context makes"));
  }
  AsyncCallOptions given;
  static_cast<CallOptions&>(given) = options;
  TAKT_ASSIGN_OR_RETURN(const Ref<AsyncCall> call,
                        AsyncCall::Start(function, given, arguments));
  // This thread checks the limit as well, since it may be the thread that fires
  // the timers.
  absl::Status status = call->Wait(DeadlineAfter(NowNs(), options.timeout_ns));
  if (status.code() == absl::StatusCode::kDeadlineExceeded) {
    call->Expire();
    status = call->Wait(kInfiniteFuture);
  }
  TAKT_RETURN_IF_ERROR(status);
  return call->TakeResults(results);
}

}  // namespace

absl::Status CallAndWait(Function& function, const CallOptions& options,
                         absl::Span<const vm::Value> arguments,
                         absl::Span<vm::Value> results) {
  if (results.size() != function.signature().results().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(function.name(), ": expected room for ",
                     function.signature().results().size(), " results, got ",
                     results.size()));
  }
  TAKT_RETURN_IF_ERROR(function.CheckArguments(arguments, /*fences=*/true));
  const bool has_fences =
      arguments.size() > function.signature().arguments().size();
  if (has_fences && !options.result_buffers.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        function.name(),
        ": options: result_buffers: the call does not wait, since it is "
        "given fences; an asynchronous call takes both"));
  }
  if (options.timeout_ns != 0) {
    return CallWithTimeout(function, options, arguments, results);
  }
  std::unique_ptr<ResultBinding> binding;
  if (!options.result_buffers.empty()) {
    TAKT_ASSIGN_OR_RETURN(
        binding, function.ReadBinding(options.result_buffers, arguments));
  }
  TAKT_ASSIGN_OR_RETURN(Function::Job job, function.FindJob(options));
  if (binding != nullptr) job.attributes.results = binding->memory();
  const Ref<shop::ScheduledJob> shop_job = function.BeginJob(job);
  job.attributes.context = shop_job.get();
  Values values;
  values.assign(arguments.begin(), arguments.end());
  // From here on the workers leave small work to this thread.
  BlockingWait thread(function.context().executor(), job.traits.lane);
  Ref<hal::Fence> signal;
  if (function.signature().is_async() && !has_fences) {
    signal = hal::Fence::Create(function.context().instance().blocks());
    values.push_back(vm::Value::FromRef(nullptr));
    values.push_back(vm::Value::FromRef(signal));
    if (binding != nullptr) binding->memory()->SetEnd(signal.get());
  }
  TAKT_RETURN_IF_ERROR(Run(function, options.step_limit, job.attributes,
                           absl::MakeSpan(values), thread, results));
  if (signal == nullptr && binding == nullptr) return absl::OkStatus();
  absl::Status status;
  // The results are there already: what is thrown would leave them behind.
  TAKT_TRY {
    if (signal != nullptr) status = WaitForSignal(std::move(signal), thread);
    if (status.ok() && binding != nullptr) status = binding->Settle(results);
  }
  TAKT_CATCH(const std::bad_alloc&) { status = OutOfMemory(); }
  if (status.ok()) return status;
  for (vm::Value& result : results) result = vm::Value();
  return Annotate(status, function.name());
}

}  // namespace takt::runtime
