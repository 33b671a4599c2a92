#include "runtime/context.h"

#include <string>
#include <utility>
#include <vector>

#include "abi/guard.h"
#include "abi/null.h"
#include "absl/strings/str_cat.h"
#include "api/device.h"
#include "api/handle.h"
#include "api/npu_routes.h"
#include "base/status.h"
#include "runtime/function.h"
#include "takt/context.h"

namespace takt::api {
namespace {

// The objects of a list of handles. INVALID_ARGUMENT naming the one that is
// NULL.
template <typename Handle, typename T>
absl::Status ReadList(absl::string_view name, Handle* const* handles,
                      size_t count, std::vector<T*>* objects) {
  if (count != 0) {
    TAKT_RETURN_IF_ERROR(Require(handles, absl::StrCat("options: ", name)));
  }
  for (size_t i = 0; i < count; ++i) {
    TAKT_RETURN_IF_ERROR(
        Require(handles[i], absl::StrCat("options: ", name, "[", i, "]")));
    objects->push_back(Unwrap(handles[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::ContextOptions> ReadContextOptions(
    const takt_context_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_context_options_t given,
                        ReadOptions(options, &takt_context_options_init));
  runtime::ContextOptions result;
  TAKT_RETURN_IF_ERROR(
      ReadList("modules", given.modules, given.module_count, &result.modules));
  TAKT_RETURN_IF_ERROR(
      ReadList("devices", given.devices, given.device_count, &result.devices));
  TAKT_RETURN_IF_ERROR(ReadList("parameters", given.parameters,
                                given.parameters_count, &result.parameters));
  result.step_limit = given.step_limit;
  result.memory_limit = given.memory_limit;
  // The workers of the first device that has some.
  for (const hal::Device* device : result.devices) {
    result.executor = ExecutorOf(*device);
    if (result.executor != nullptr) break;
  }
  return result;
}

absl::StatusOr<Ref<runtime::Context>> CreateContext(
    runtime::Instance* instance, const takt_context_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const runtime::ContextOptions given,
                        ReadContextOptions(options));
  TAKT_ASSIGN_OR_RETURN(Ref<runtime::Context> context,
                        runtime::Context::Create(instance, given));
  AddRoutes(instance, given, context->vm());
  NoteUnusedNpus(*instance, given);
  return context;
}

absl::Status Notify(runtime::Context& context, takt_context_signal_t signal) {
  if (signal < TAKT_CONTEXT_SIGNAL_RESUME ||
      signal > TAKT_CONTEXT_SIGNAL_FORK) {
    return absl::InvalidArgumentError(
        absl::StrCat("signal ", static_cast<int>(signal), " is no signal"));
  }
  return context.Notify(static_cast<vm::Signal::Kind>(signal));
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_context_create(takt_instance_t* instance,
                                  const takt_context_options_t* options,
                                  takt_context_t** out_context) {
  TAKT_REQUIRE(instance, options, out_context);
  TAKT_TRY {
    return takt::api::Give(__func__,
                           takt::api::CreateContext(Unwrap(instance), options),
                           out_context);
  }
  TAKT_CATCH_ALL(instance, options, out_context);
}

void takt_context_retain(takt_context_t* context) {
  takt::api::RetainHandle(context);
}

void takt_context_release(takt_context_t* context) {
  takt::api::ReleaseHandle(context);
}

takt_status_t takt_context_find_function(takt_context_t* context,
                                         const char* name,
                                         takt_function_t** out_function) {
  TAKT_REQUIRE(context, name, out_function);
  TAKT_TRY {
    return takt::api::Give(__func__,
                           takt::runtime::Function::Find(Unwrap(context), name),
                           out_function);
  }
  TAKT_CATCH_ALL(context, name, out_function);
}

takt_status_t takt_context_notify(takt_context_t* context,
                                  takt_context_signal_t signal) {
  TAKT_REQUIRE(context);
  TAKT_TRY {
    return takt::api::ToStatus(__func__,
                               takt::api::Notify(*Unwrap(context), signal));
  }
  TAKT_CATCH_ALL(context);
}
