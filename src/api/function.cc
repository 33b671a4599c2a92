#include "runtime/function.h"

#include <cstring>

#include "abi/guard.h"
#include "abi/null.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/value.h"
#include "base/status.h"
#include "runtime/call.h"
#include "takt/function.h"

namespace takt::api {
namespace {

absl::Status Invoke(runtime::Function& function,
                    const takt_invoke_options_t* options,
                    absl::Span<const vm::Value> arguments,
                    absl::Span<vm::Value> results) {
  if (options == nullptr) {
    return runtime::CallAndWait(function, runtime::CallOptions(), arguments,
                                results);
  }
  TAKT_ASSIGN_OR_RETURN(const takt_invoke_options_t given,
                        ReadOptions(options, &takt_invoke_options_init));
  const absl::StatusOr<runtime::CallOptions> call_options =
      ReadCallOptions(given);
  if (!call_options.ok()) {
    return Annotate(call_options.status(), function.name());
  }
  return runtime::CallAndWait(function, *call_options, arguments, results);
}

absl::Status GiveIndex(const absl::StatusOr<size_t>& index, size_t* out_index) {
  *out_index = index.value_or(0);
  return index.status();
}

absl::Status QueryBindings(const runtime::Function* function,
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
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__, takt::api::QueryBindings(Unwrap(function), out_statistics));
  }
  TAKT_CATCH_ALL(function, out_statistics);
}

takt_status_t takt_function_declare(takt_function_t* function,
                                    const char* declaration,
                                    takt_function_t** out_function) {
  TAKT_REQUIRE(function, declaration, out_function);
  TAKT_TRY {
    return takt::api::Give(__func__, Unwrap(function)->Declare(declaration),
                           out_function);
  }
  TAKT_CATCH_ALL(function, declaration, out_function);
}

takt_status_t takt_function_find_input(const takt_function_t* function,
                                       const char* name, size_t* out_index) {
  TAKT_REQUIRE(function, name, out_index);
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__,
        takt::api::GiveIndex(Unwrap(function)->FindInput(name), out_index));
  }
  TAKT_CATCH_ALL(function, name, out_index);
}

takt_status_t takt_function_find_output(const takt_function_t* function,
                                        const char* name, size_t* out_index) {
  TAKT_REQUIRE(function, name, out_index);
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__,
        takt::api::GiveIndex(Unwrap(function)->FindOutput(name), out_index));
  }
  TAKT_CATCH_ALL(function, name, out_index);
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
      const_cast<takt::runtime::Signature*>(&Unwrap(function)->signature()));
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
  TAKT_TRY {
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
  TAKT_CATCH_ALL(function, Items(argument_count, arguments),
                 Items(result_count, out_results));
}
