#include "runtime/function.h"

#include <algorithm>

#include "base/clock.h"
#include "base/nearest_names.h"
#include "base/status.h"
#include "hal/buffer_view.h"
#include "hal/fence.h"

namespace takt::runtime {
namespace {

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
        name_, ": expected ", expected, expected == 1 ? " input" : " inputs",
        ", got ", arguments.size()));
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

absl::StatusOr<std::unique_ptr<ResultBinding>> Function::ReadBinding(
    absl::Span<const ResultBuffer> buffers,
    absl::Span<const vm::Value> arguments) const {
  absl::StatusOr<std::unique_ptr<ResultBinding>> binding =
      ResultBinding::Read(*signature_, *result_places_, buffers, arguments);
  if (!binding.ok()) return Annotate(binding.status(), name_);
  return binding;
}

absl::StatusOr<size_t> Function::FindInput(absl::string_view name) const {
  return FindNamed("input", signature_->arguments(), name);
}

absl::StatusOr<size_t> Function::FindOutput(absl::string_view name) const {
  return FindNamed("output", signature_->results(), name);
}

absl::StatusOr<size_t> Function::FindNamed(absl::string_view what,
                                           absl::Span<const ValueType> types,
                                           absl::string_view name) const {
  std::vector<std::string> names;
  size_t count = 0;
  size_t index = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    const absl::string_view each = types[i].name;
    if (each.empty()) continue;
    names.emplace_back(each);
    if (each == name && count++ == 0) index = i;
  }
  if (count == 1) return index;
  if (count > 1) {
    return absl::NotFoundError(
        absl::StrCat(name_, ": ", count, " ", what, "s are named ", name));
  }
  return absl::NotFoundError(absl::StrCat(
      name_, ": no ", what, " is named ", name, "; ",
      NearestNames(names, name, absl::StrCat("names of ", what, "s"))));
}

}  // namespace takt::runtime
