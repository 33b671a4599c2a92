#include "takt/async.h"

#include <cstring>
#include <utility>

#include "abi/guard.h"
#include "abi/null.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/value.h"
#include "base/status.h"
#include "runtime/async_call.h"

using takt::Ref;
using takt::api::ToStatus;
using takt::api::Unwrap;
using takt::api::Wrap;
using takt::runtime::AsyncCall;

static_assert(TAKT_INVOCATION_WAITING ==
              static_cast<int>(AsyncCall::State::kWaiting));
static_assert(TAKT_INVOCATION_DONE ==
              static_cast<int>(AsyncCall::State::kDone));

namespace {

absl::StatusOr<Ref<AsyncCall>> Invoke(takt::runtime::Function* function,
                                      const takt_async_options_t* options,
                                      absl::Span<const takt_value_t> arguments,
                                      takt_fence_t* wait,
                                      takt_fence_t* signal) {
  TAKT_ASSIGN_OR_RETURN(
      const takt_async_options_t given,
      takt::api::ReadOptions(options, &takt_async_options_init));
  absl::StatusOr<takt::runtime::AsyncCallOptions> call_options =
      takt::api::ReadAsyncOptions(given);
  if (!call_options.ok()) {
    return takt::Annotate(call_options.status(), function->name());
  }
  call_options->wait = Unwrap(wait);
  call_options->signal = Unwrap(signal);
  AsyncCall::Callback on_done;
  if (given.on_done != nullptr) {
    on_done = [callback = given.on_done, user_data = given.user_data](
                  AsyncCall& call, const absl::Status& status) {
      callback(user_data, Wrap(&call), ToStatus("takt_async_invoke", status));
    };
  }
  return AsyncCall::Start(*function, *call_options,
                          takt::api::ToValues(arguments), std::move(on_done));
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
  TAKT_TRY {
    takt_status_t status = takt::api::Give(
        __func__,
        Invoke(Unwrap(function), options, {arguments, argument_count},
               wait_fence, signal_fence),
        out_invocation);
    takt_invocation_release(ignored);
    return status;
  }
  TAKT_CATCH_ALL(function, Items(argument_count, arguments),
                 Optional(out_invocation));
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
  return static_cast<takt_invocation_state_t>(Unwrap(invocation)->state());
}

takt_status_t takt_invocation_query(const takt_invocation_t* invocation,
                                    bool* out_done) {
  TAKT_REQUIRE(invocation, out_done);
  TAKT_TRY { return ToStatus(__func__, Unwrap(invocation)->Query(out_done)); }
  TAKT_CATCH_ALL(invocation, out_done);
}

takt_status_t takt_invocation_wait(takt_invocation_t* invocation,
                                   int64_t deadline_ns) {
  TAKT_REQUIRE(invocation);
  TAKT_TRY { return ToStatus(__func__, Unwrap(invocation)->Wait(deadline_ns)); }
  TAKT_CATCH_ALL(invocation);
}

takt_status_t takt_invocation_fence(takt_invocation_t* invocation,
                                    takt_fence_t** out_fence) {
  TAKT_REQUIRE(invocation, out_fence);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        absl::StatusOr<Ref<takt::hal::Fence>>(Unwrap(invocation)->GetFence()),
        out_fence);
  }
  TAKT_CATCH_ALL(invocation, out_fence);
}

takt_status_t takt_invocation_take_results(takt_invocation_t* invocation,
                                           size_t result_count,
                                           takt_value_t* out_results) {
  TAKT_REQUIRE(invocation, Items(result_count, out_results));
  TAKT_TRY {
    if (result_count != 0) {
      std::memset(out_results, 0, result_count * sizeof(*out_results));
    }
    return ToStatus(__func__,
                    Unwrap(invocation)
                        ->TakeResults(takt::api::ToValues(
                            absl::MakeSpan(out_results, result_count))));
  }
  TAKT_CATCH_ALL(invocation, Items(result_count, out_results));
}

void takt_invocation_cancel(takt_invocation_t* invocation) {
  TAKT_IGNORE_NULL(invocation);
  TAKT_TRY { Unwrap(invocation)->Cancel(); }
  TAKT_CATCH_ALL_OR(, invocation);
}
