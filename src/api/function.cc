#include "api/function.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "api/async_call.h"
#include "api/call_trace.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/value.h"
#include "base/clock.h"
#include "base/nearest_names.h"
#include "hal/buffer_view.h"
#include "hal/fence.h"
#include "vm/invocation.h"

namespace takt::api {
namespace {

// A call passes few values; longer argument lists go to the heap.
using Values = absl::InlinedVector<vm::Value, 12>;

// "1x?xf32", as messages name what a function takes.
std::string TypeText(const ValueType& type) {
  std::string text;
  for (size_t i = 0; i < type.rank; ++i) {
    if (type.shape[i] == Declaration::kDynamic) {
      absl::StrAppend(&text, "?x");
    } else {
      absl::StrAppend(&text, type.shape[i], "x");
    }
  }
  return text + hal::ElementTypeName(type.element_type);
}

bool Fits(const ValueType& type, const hal::BufferView& view) {
  return hal::ElementTypeFits(view.element_type(), type.element_type) &&
         type.AdmitsShape(view.shape());
}

std::string DescribeValue(const vm::Value& value) {
  if (!value.is_ref()) return vm::ValueKindName(value.kind());
  if (value.ref() == nullptr) return "null";
  auto* view = DynCast<hal::BufferView>(value.ref());
  return view != nullptr ? view->ShapeAndTypeString()
                         : value.ref()->type()->name;
}

}  // namespace

absl::StatusOr<Ref<Function>> Function::Find(Context* context,
                                             const char* name) {
  TAKT_ASSIGN_OR_RETURN(vm::FunctionRef ref, context->vm().FindFunction(name));
  const vm::ExportInfo& info = context->vm().info(ref);
  const vm::Module& module = *context->vm().modules()[ref.module];
  std::string full_name = absl::StrCat(module.name(), ".", info.name);
  absl::StatusOr<JobAnnotations> annotations =
      JobAnnotations::Read(context->instance(), info);
  if (!annotations.ok()) return Annotate(annotations.status(), full_name);
  return Ref<Function>::Adopt(
      new Function(Ref<Context>::Retain(context), ref, Signature::Create(info),
                   *std::move(annotations), std::move(full_name)));
}

absl::StatusOr<Ref<Function>> Function::Declare(
    absl::string_view declaration) const {
  absl::StatusOr<Ref<Signature>> signature =
      Signature::Declare(info(), declaration);
  if (!signature.ok()) return Annotate(signature.status(), name_);
  return Ref<Function>::Adopt(
      new Function(context_, ref_, *std::move(signature), annotations_, name_));
}

absl::StatusOr<Function::Job> Function::FindJob(
    const CallOptions& options) const {
  Job job;
  absl::StatusOr<JobAttributes> attributes =
      annotations_.Resolve(context_->instance(), options);
  if (!attributes.ok()) return Annotate(attributes.status(), name_);
  job.attributes = *attributes;
  if (context_->executor() == nullptr) return job;
  absl::StatusOr<exec::JobTraits> traits =
      context_->executor()->FindTraits(*attributes);
  if (!traits.ok()) return Annotate(traits.status(), name_);
  job.traits = *traits;
  return job;
}

Ref<shop::ScheduledJob> Function::BeginJob(const Job& job) const {
  shop::JobShop* const shop = context_->shop();
  const JobAttributes& asked = job.attributes;
  const bool has_deadline = asked.deadline_ns != kInfiniteFuture;
  if (shop == nullptr || (!has_deadline && asked.priority == kNormalPriority)) {
    return nullptr;
  }
  return shop->ReleaseJob(*shop->StreamOf(asked.priority, job.traits.allowed),
                          NowNs(), asked.deadline_ns, has_deadline);
}

absl::Status Function::CheckArguments(
    absl::Span<const vm::Value> arguments, bool fences,
    absl::Span<const FutureArgument> futures) const {
  if (signature_->is_variadic()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_,
                     ": takes a varying number of arguments, which "
                     "only other modules can pass"));
  }
  const size_t expected = signature_->arguments().size();
  const bool with_fences =
      fences && signature_->is_async() && arguments.size() == expected + 2;
  if (arguments.size() != expected && !with_fences) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_, ": expected ", expected, " inputs, got ", arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_future = std::any_of(
        futures.begin(), futures.end(),
        [i](const FutureArgument& future) { return future.index == i; });
    if (!is_future) {
      TAKT_RETURN_IF_ERROR(CheckArgument(i, arguments[i]));
    } else if (arguments[i].kind() != vm::ValueKind::kNone) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": input ", i, ": is to come from another call, but a value (",
          DescribeValue(arguments[i]), ") is given too"));
    }
  }
  return absl::OkStatus();
}

absl::Status Function::CheckArgument(size_t index,
                                     const vm::Value& value) const {
  const auto types = signature_->arguments();
  // The fences of an async function have no type of their own.
  const bool is_fence = index >= types.size();
  const bool wants_ref = is_fence || types[index].kind == vm::ValueKind::kRef;
  if (is_fence) {
    if (value.is_ref() && (value.ref() == nullptr ||
                           DynCast<hal::Fence>(value.ref()) != nullptr)) {
      return absl::OkStatus();
    }
  } else if (types[index].is_tensor) {
    auto* view = DynCast<hal::BufferView>(value.ref());
    if (view != nullptr && Fits(types[index], *view)) return absl::OkStatus();
  } else if (wants_ref == value.is_ref() && vm::IsValueKind(value.kind()) &&
             value.kind() != vm::ValueKind::kNone) {
    return absl::OkStatus();
  }
  const std::string expected = is_fence ? "hal.fence"
                               : types[index].is_tensor
                                   ? TypeText(types[index])
                                   : vm::ValueKindName(types[index].kind);
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": input ", index, ": expected ", expected, ", got ",
                   DescribeValue(value)));
}

absl::Status Function::Run(uint64_t step_limit, const JobAttributes& job,
                           absl::Span<vm::Value> arguments,
                           BlockingWait& thread,
                           absl::Span<vm::Value> results) const {
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Invocation> invocation,
      vm::Invocation::Create(context_->vm(), ref_, arguments,
                             vm::Invocation::ArgumentRefs::kTake));
  if (step_limit != 0) invocation->SetStepLimit(step_limit);
  CallTrace trace(*this);
  trace.Begin(job, /*parent=*/0);
  JobAttributes recorded = job;
  recorded.trace_id = trace.id();
  invocation->SetJob(recorded);
  invocation->SetOnWoken(
      [](void* argument, vm::Invocation&) {
        static_cast<BlockingWait*>(argument)->Notify();
      },
      &thread);
  CallQueue& strand = context_->strand();
  for (bool is_resumed = false;; is_resumed = true) {
    const bool entered = strand.Enter(thread);
    const vm::Invocation::State state = trace.Run(*invocation, is_resumed);
    if (entered) strand.Leave();
    if (state == vm::Invocation::State::kDone) break;
    thread.WaitUntilNotified(kInfiniteFuture);
  }
  trace.End(invocation->status());
  TAKT_RETURN_IF_ERROR(invocation->status());
  absl::Span<vm::Value> values = invocation->results();
  std::move(values.begin(), values.begin() + results.size(), results.begin());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ResultBinding>> Function::ReadBinding(
    absl::Span<const ResultBuffer> buffers,
    absl::Span<const vm::Value> arguments) const {
  absl::StatusOr<std::unique_ptr<ResultBinding>> binding =
      ResultBinding::Read(*signature_, *result_places_, buffers, arguments);
  if (!binding.ok()) return Annotate(binding.status(), name_);
  return binding;
}

absl::Status Function::InvokeWithTimeout(const CallOptions& options,
                                         absl::Span<const vm::Value> arguments,
                                         absl::Span<vm::Value> results) {
  if (arguments.size() > signature_->arguments().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_,
        ": options: timeout_ns: the call does not wait, since it is "
        "given fences; takt_async_invoke() takes both"));
  }
  if (context_->strand().RunsHere()) {
    return absl::FailedPreconditionError(absl::StrCat(
        name_,
        ": options: timeout_ns: not in a call that a program of the "
        "same context makes"));
  }
  AsyncCallOptions given;
  static_cast<CallOptions&>(given) = options;
  TAKT_ASSIGN_OR_RETURN(const Ref<AsyncCall> invocation,
                        AsyncCall::Start(*this, given, arguments));
  // This thread looks at the time as well: it may be the one that fires timers.
  absl::Status status =
      invocation->Wait(DeadlineAfter(NowNs(), options.timeout_ns));
  if (status.code() == absl::StatusCode::kDeadlineExceeded) {
    invocation->Expire();
    status = invocation->Wait(kInfiniteFuture);
  }
  TAKT_RETURN_IF_ERROR(status);
  return invocation->TakeResults(results);
}

absl::Status Function::Invoke(const CallOptions& options,
                              absl::Span<const vm::Value> arguments,
                              absl::Span<vm::Value> results) {
  if (results.size() != signature_->results().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_, ": expected room for ", signature_->results().size(),
        " results, got ", results.size()));
  }
  TAKT_RETURN_IF_ERROR(CheckArguments(arguments, /*fences=*/true));
  const bool has_fences = arguments.size() > signature_->arguments().size();
  if (has_fences && !options.result_buffers.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_,
        ": options: result_buffers: the call does not wait, since it is "
        "given fences; takt_async_invoke() takes both"));
  }
  if (options.timeout_ns != 0) {
    return InvokeWithTimeout(options, arguments, results);
  }
  std::unique_ptr<ResultBinding> binding;
  if (!options.result_buffers.empty()) {
    TAKT_ASSIGN_OR_RETURN(binding,
                          ReadBinding(options.result_buffers, arguments));
  }
  TAKT_ASSIGN_OR_RETURN(Job job, FindJob(options));
  if (binding != nullptr) job.attributes.results = binding->memory();
  const Ref<shop::ScheduledJob> shop_job = BeginJob(job);
  job.attributes.context = shop_job.get();
  Values values;
  values.assign(arguments.begin(), arguments.end());
  // From here on small work of this thread is left to this thread.
  BlockingWait thread(context_->executor(), job.traits.lane);
  Ref<hal::Fence> signal;
  if (signature_->is_async() && !has_fences) {
    signal = hal::Fence::Create(context_->instance().blocks());
    values.push_back(vm::Value::FromRef(nullptr));
    values.push_back(vm::Value::FromRef(signal));
  }
  TAKT_RETURN_IF_ERROR(Run(options.step_limit, job.attributes,
                           absl::MakeSpan(values), thread, results));
  if (signal == nullptr && binding == nullptr) return absl::OkStatus();
  absl::Status status;
  if (signal != nullptr) status = WaitForSignal(std::move(signal), thread);
  if (status.ok() && binding != nullptr) status = binding->Settle(results);
  if (status.ok()) return status;
  for (vm::Value& result : results) result = vm::Value();
  return Annotate(status, name_);
}

namespace {

absl::Status Invoke(Function& function, const takt_invoke_options_t* options,
                    absl::Span<const vm::Value> arguments,
                    absl::Span<vm::Value> results) {
  if (options == nullptr) {
    return function.Invoke(CallOptions(), arguments, results);
  }
  TAKT_ASSIGN_OR_RETURN(const takt_invoke_options_t given,
                        ReadOptions(options, &takt_invoke_options_init));
  const absl::StatusOr<CallOptions> call_options = ReadCallOptions(given);
  if (!call_options.ok()) {
    return Annotate(call_options.status(), function.name());
  }
  return function.Invoke(*call_options, arguments, results);
}

absl::Status FindNamed(const Function* function, const char* name,
                       bool is_input, size_t* out_index) {
  *out_index = 0;
  const Signature& signature = function->signature();
  const absl::string_view what = is_input ? "input" : "output";
  std::vector<std::string> names;
  size_t count = 0;
  const auto types = is_input ? signature.arguments() : signature.results();
  for (size_t i = 0; i < types.size(); ++i) {
    const absl::string_view each = types[i].name;
    if (each.empty()) continue;
    names.emplace_back(each);
    if (each != name) continue;
    if (count++ == 0) *out_index = i;
  }
  if (count == 1) return absl::OkStatus();
  *out_index = 0;
  if (count > 1) {
    return absl::NotFoundError(absl::StrCat(function->name(), ": ", count, " ",
                                            what, "s are named ", name));
  }
  return absl::NotFoundError(absl::StrCat(
      function->name(), ": no ", what, " is named ", name, "; ",
      NearestNames(names, name, absl::StrCat("names of ", what, "s"))));
}

absl::Status QueryBindings(const Function* function,
                           takt_binding_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  takt_binding_statistics_t statistics = {};
  statistics.in_place_count = function->result_places().in_place_count();
  statistics.copied_count = function->result_places().copied_count();
  WriteSized(statistics, out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_function_query_bindings(
    const takt_function_t* function,
    takt_binding_statistics_t* out_statistics) {
  TAKT_REQUIRE(function, out_statistics);
  return takt::api::ToStatus(
      __func__, takt::api::QueryBindings(Unwrap(function), out_statistics));
}

takt_status_t takt_function_declare(takt_function_t* function,
                                    const char* declaration,
                                    takt_function_t** out_function) {
  TAKT_REQUIRE(function, declaration, out_function);
  return takt::api::Give(__func__, Unwrap(function)->Declare(declaration),
                         out_function);
}

takt_status_t takt_function_find_input(const takt_function_t* function,
                                       const char* name, size_t* out_index) {
  TAKT_REQUIRE(function, name, out_index);
  return takt::api::ToStatus(
      __func__, takt::api::FindNamed(Unwrap(function), name,
                                     /*is_input=*/true, out_index));
}

takt_status_t takt_function_find_output(const takt_function_t* function,
                                        const char* name, size_t* out_index) {
  TAKT_REQUIRE(function, name, out_index);
  return takt::api::ToStatus(
      __func__, takt::api::FindNamed(Unwrap(function), name,
                                     /*is_input=*/false, out_index));
}

void takt_function_retain(takt_function_t* function) {
  takt::api::RetainHandle(function);
}

void takt_function_release(takt_function_t* function) {
  takt::api::ReleaseHandle(function);
}

const char* takt_function_name(const takt_function_t* function) {
  TAKT_REQUIRE_OR("", function);
  return Unwrap(function)->name().c_str();
}

takt_signature_t* takt_function_signature(const takt_function_t* function) {
  TAKT_REQUIRE_OR(nullptr, function);
  return takt::api::Wrap(
      const_cast<takt::api::Signature*>(&Unwrap(function)->signature()));
}

const char* takt_function_attribute(const takt_function_t* function,
                                    const char* key) {
  TAKT_REQUIRE_OR(nullptr, function, key);
  const std::string* value = Unwrap(function)->info().FindAttribute(key);
  return value != nullptr ? value->c_str() : nullptr;
}

takt_status_t takt_function_invoke(takt_function_t* function,
                                   const takt_invoke_options_t* options,
                                   size_t argument_count,
                                   const takt_value_t* arguments,
                                   size_t result_count,
                                   takt_value_t* out_results) {
  TAKT_REQUIRE(function, Items(argument_count, arguments),
               Items(result_count, out_results));
  if (result_count != 0) {
    std::memset(out_results, 0, result_count * sizeof(*out_results));
  }
  return takt::api::ToStatus(
      __func__,
      takt::api::Invoke(
          *Unwrap(function), options,
          takt::api::ToValues(absl::MakeConstSpan(arguments, argument_count)),
          takt::api::ToValues(absl::MakeSpan(out_results, result_count))));
}
