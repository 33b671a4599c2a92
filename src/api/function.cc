#include "api/function.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "api/handle.h"
#include "api/invocation_trace.h"
#include "api/value.h"
#include "base/clock.h"
#include "hal/buffer_view.h"
#include "hal/fence.h"
#include "vm/invocation.h"

namespace takt::api {
namespace {

// A call passes few values; longer argument lists go to the heap.
using Values = absl::InlinedVector<vm::Value, 12>;

// "1x?xf32", as messages name what a function takes.
std::string TypeText(const takt_value_type_t& type) {
  std::string text;
  for (size_t i = 0; i < type.rank; ++i) {
    if (type.shape[i] == TAKT_DIMENSION_DYNAMIC) {
      absl::StrAppend(&text, "?x");
    } else {
      absl::StrAppend(&text, type.shape[i], "x");
    }
  }
  return text +
         hal::ElementTypeName(static_cast<hal::ElementType>(type.element_type));
}

bool Fits(const takt_value_type_t& type, const hal::BufferView& view) {
  const absl::Span<const int64_t> shape = view.shape();
  const auto element_type = static_cast<hal::ElementType>(type.element_type);
  if (!hal::ElementTypeFits(view.element_type(), element_type) ||
      shape.size() != type.rank) {
    return false;
  }
  for (size_t i = 0; i < type.rank; ++i) {
    if (type.shape[i] != TAKT_DIMENSION_DYNAMIC && type.shape[i] != shape[i]) {
      return false;
    }
  }
  return true;
}

std::string DescribeValue(const takt_value_t& value) {
  if (value.kind != TAKT_VALUE_REF) return takt_value_kind_name(value.kind);
  if (value.ref == nullptr) return "null";
  auto* object = reinterpret_cast<Object*>(value.ref);
  auto* view = DynCast<hal::BufferView>(object);
  return view != nullptr ? view->ShapeAndTypeString() : object->type()->name;
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

absl::StatusOr<Function::Job> Function::FindJob(
    const JobOptions& options) const {
  Job job;
  absl::StatusOr<JobAttributes> attributes =
      annotations_.Resolve(context_->instance(), options);
  if (!attributes.ok()) return Annotate(attributes.status(), name_);
  job.attributes = *attributes;
  if (context_->executor() == nullptr) return job;
  absl::StatusOr<exec::Standing> standing =
      context_->executor()->FindStanding(*attributes);
  if (!standing.ok()) return Annotate(standing.status(), name_);
  job.standing = *standing;
  return job;
}

Ref<shop::Job> Function::BeginJob(const Job& job) const {
  shop::JobShop* const shop = context_->shop();
  const JobAttributes& asked = job.attributes;
  const bool has_deadline = asked.deadline_ns != kInfiniteFuture;
  if (shop == nullptr || (!has_deadline && asked.priority == kNormalPriority)) {
    return nullptr;
  }
  return shop->ReleaseJob(*shop->StreamOf(asked.priority, job.standing.allowed),
                          NowNs(), asked.deadline_ns, has_deadline);
}

absl::Status Function::CheckArguments(absl::Span<const takt_value_t> arguments,
                                      bool fences) const {
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
    TAKT_RETURN_IF_ERROR(CheckArgument(i, arguments[i]));
  }
  return absl::OkStatus();
}

absl::Status Function::CheckArgument(size_t index,
                                     const takt_value_t& value) const {
  const auto types = signature_->arguments();
  // The fences of an async function have no type of their own.
  const bool is_fence = index >= types.size();
  const bool wants_ref = is_fence || types[index].kind == TAKT_VALUE_REF;
  if (is_fence) {
    if (value.kind == TAKT_VALUE_REF &&
        (value.ref == nullptr || takt_value_as_fence(&value) != nullptr)) {
      return absl::OkStatus();
    }
  } else if (types[index].is_tensor) {
    if (value.kind == TAKT_VALUE_REF) {
      auto* view =
          DynCast<hal::BufferView>(reinterpret_cast<Object*>(value.ref));
      if (view != nullptr && Fits(types[index], *view)) {
        return absl::OkStatus();
      }
    }
  } else if (wants_ref == (value.kind == TAKT_VALUE_REF) &&
             IsValueKind(value.kind) && value.kind != TAKT_VALUE_NONE) {
    return absl::OkStatus();
  }
  const std::string expected = is_fence ? "hal.fence"
                               : types[index].is_tensor
                                   ? TypeText(types[index])
                                   : takt_value_kind_name(types[index].kind);
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": input ", index, ": expected ", expected, ", got ",
                   DescribeValue(value)));
}

absl::Status Function::Run(uint64_t step_limit, const JobAttributes& job,
                           absl::Span<vm::Value> arguments, SyncWait& thread,
                           absl::Span<takt_value_t> results) const {
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Invocation> invocation,
      vm::Invocation::Create(context_->vm(), ref_, arguments,
                             vm::Invocation::ArgumentRefs::kTake));
  if (step_limit != 0) invocation->SetStepLimit(step_limit);
  InvocationTrace trace(*this);
  trace.Begin(job, /*parent=*/0);
  JobAttributes recorded = job;
  recorded.trace_id = trace.id();
  invocation->SetJob(recorded);
  invocation->SetOnWoken(
      [](void* argument, vm::Invocation&) {
        static_cast<SyncWait*>(argument)->Notify();
      },
      &thread);
  AsyncStrand& strand = context_->strand();
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
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = TakeVmValue(std::move(values[i]));
  }
  return absl::OkStatus();
}

absl::Status Function::Invoke(const takt_invoke_options_t* options,
                              absl::Span<const takt_value_t> arguments,
                              absl::Span<takt_value_t> results) const {
  uint64_t step_limit = 0;
  JobOptions job_options;
  if (options != nullptr) {
    TAKT_ASSIGN_OR_RETURN(takt_invoke_options_t given,
                          ReadOptions(options, &takt_invoke_options_init));
    step_limit = given.step_limit;
    job_options = JobOptions(given);
  }
  if (results.size() != signature_->results().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name_, ": expected room for ", signature_->results().size(),
        " results, got ", results.size()));
  }
  TAKT_RETURN_IF_ERROR(CheckArguments(arguments, /*fences=*/true));
  TAKT_ASSIGN_OR_RETURN(Job job, FindJob(job_options));
  const Ref<shop::Job> shop_job = BeginJob(job);
  job.attributes.shop_job = shop_job.get();
  Values values;
  for (const takt_value_t& argument : arguments) {
    values.push_back(ToVmValue(argument));
  }
  // From here on small work of this thread is left to this thread.
  SyncWait thread(context_->executor(), job.standing.lane);
  Ref<hal::Fence> signal;
  if (signature_->is_async() &&
      arguments.size() == signature_->arguments().size()) {
    signal = hal::Fence::Create(context_->instance().blocks());
    values.push_back(vm::Value::FromRef(nullptr));
    values.push_back(vm::Value::FromRef(signal));
  }
  TAKT_RETURN_IF_ERROR(
      Run(step_limit, job.attributes, absl::MakeSpan(values), thread, results));
  if (signal == nullptr) return absl::OkStatus();
  absl::Status status = WaitForFence(*signal, thread, kInfiniteFuture);
  if (status.ok()) return status;
  takt_values_release(results.size(), results.data());
  return Annotate(status, name_);
}

}  // namespace takt::api

using takt::api::Unwrap;

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
      __func__, Unwrap(function)->Invoke(options, {arguments, argument_count},
                                         {out_results, result_count}));
}
