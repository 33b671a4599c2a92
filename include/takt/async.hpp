// takt/async.hpp - asynchronous calls from C++; contracts are in takt/async.h.
//
//   auto a = takt::Fence::Create().value();
//   auto b = takt::Fence::Create().value();
//   auto act = context.FindFunction("policy.act").value();
//   auto call = takt::AsyncInvoke(act, {view}, {.wait = a, .signal =
//   b}).value();
//   ...
//   std::vector<takt::Value> results = call.Get().value();
#ifndef TAKT_ASYNC_HPP_
#define TAKT_ASYNC_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "takt/async.h"
#include "takt/context.hpp"

namespace takt {
inline namespace cxx {

// An asynchronous call; its release does not cancel the call.
class Invocation
    : public Object<Invocation, takt_invocation_t, takt_invocation_retain,
                    takt_invocation_release> {
 public:
  using Object::Object;

  Function function() const {
    return Function::Retain(takt_invocation_function(get()));
  }
  takt_invocation_state_t state() const { return takt_invocation_state(get()); }
  // Returns whether the call is done, or the error with which it ended.
  Result<bool> Query() const {
    bool done = false;
    Status status(takt_invocation_query(get(), &done));
    if (!status.ok()) return status;
    return done;
  }
  Status Wait(int64_t deadline_ns = TAKT_INFINITE_FUTURE) const {
    return Status(takt_invocation_wait(get(), deadline_ns));
  }
  Result<Fence> fence() const {
    takt_fence_t* fence = nullptr;
    takt_status_t status = takt_invocation_fence(get(), &fence);
    return TakeResult<Fence>(status, fence);
  }
  // Returns the results without waiting; an error if they do not exist yet.
  Result<std::vector<Value>> TakeResults() const {
    std::vector<Value> results(takt_signature_result_count(
        takt_function_signature(takt_invocation_function(get()))));
    Status status(takt_invocation_take_results(
        get(), results.size(),
        reinterpret_cast<takt_value_t*>(results.data())));
    if (!status.ok()) return status;
    return results;
  }
  // Waits, then takes the results.
  Result<std::vector<Value>> Get() const {
    Status status = Wait();
    if (!status.ok()) return status;
    return TakeResults();
  }
  void Cancel() const { takt_invocation_cancel(get()); }
};

// Options of a call. The defaults are those of takt_async_options_init().
struct AsyncOptions {
  struct IndexedFence {
    size_t index;
    Fence fence;
  };

  struct FutureArgument {
    size_t index;
    Invocation invocation;
    size_t result_index = 0;
  };

  Fence wait = {};    // Empty: at once.
  Fence signal = {};  // Empty: no fence.
  std::vector<IndexedFence> argument_fences = {};
  std::vector<IndexedFence> result_fences = {};
  uint64_t moved_arguments = 0;
  uint64_t step_limit = 0;
  uint64_t memory_limit = 0;  // 0: the context's.
  bool cancellable = true;
  bool batch = false;
  int32_t priority = TAKT_PRIORITY_DEFAULT;
  int64_t deadline_ns = TAKT_DEADLINE_DEFAULT;
  std::vector<uint64_t> cpu_words = {};
  takt_npu_policy_t npu_policy = TAKT_NPU_POLICY_DEVICE;
  int64_t npu_time_limit_ns = 0;
  int64_t timeout_ns = 0;  // 0: never.
  // Arguments that are results of other calls, which may not have ended yet. In
  // the list of arguments they are Value().
  std::vector<FutureArgument> future_arguments = {};
  // Buffers for results; see takt_invoke_options_t.
  std::vector<std::pair<size_t, BufferView>> result_buffers = {};
  // Called on the thread that ends the invocation; must not throw or block.
  std::function<void(const Invocation&, Status)> on_done = {};
};

namespace internal {

inline std::vector<takt_indexed_fence_t> Pointers(
    const std::vector<AsyncOptions::IndexedFence>& fences) {
  std::vector<takt_indexed_fence_t> pointers;
  for (const auto& [index, fence] : fences) {
    pointers.push_back({index, fence.get()});
  }
  return pointers;
}

inline std::vector<takt_future_argument_t> Pointers(
    const std::vector<AsyncOptions::FutureArgument>& futures) {
  std::vector<takt_future_argument_t> pointers;
  for (const auto& [index, invocation, result_index] : futures) {
    pointers.push_back({index, invocation.get(), result_index});
  }
  return pointers;
}

using DoneFunction = std::function<void(const Invocation&, Status)>;

inline void CallDone(void* user_data, takt_invocation_t* invocation,
                     takt_status_t status) {
  const std::unique_ptr<DoneFunction> call(
      static_cast<DoneFunction*>(user_data));
  (*call)(Invocation::Retain(invocation), Status(status));
}

}  // namespace internal

// Calls `function` and returns without waiting for it; see
// takt_async_invoke(). If moved_arguments names the arguments that were moved
// into `arguments`, the call has the last references to them.
inline Result<Invocation> AsyncInvoke(const Function& function,
                                      std::vector<Value> arguments,
                                      const AsyncOptions& options = {}) {
  const auto argument_fences = internal::Pointers(options.argument_fences);
  const auto result_fences = internal::Pointers(options.result_fences);
  std::vector<takt_result_buffer_t> result_buffers;
  for (const auto& [index, view] : options.result_buffers) {
    result_buffers.push_back({index, view.get()});
  }
  const auto futures = internal::Pointers(options.future_arguments);
  takt_async_options_t given;
  takt_async_options_init(&given);
  given.step_limit = options.step_limit;
  given.memory_limit = options.memory_limit;
  given.argument_fence_count = argument_fences.size();
  given.argument_fences = argument_fences.data();
  given.result_fence_count = result_fences.size();
  given.result_fences = result_fences.data();
  given.cancellable = options.cancellable;
  given.batch = options.batch;
  given.moved_arguments = options.moved_arguments;
  given.priority = options.priority;
  given.deadline_ns = options.deadline_ns;
  given.cpu_words = options.cpu_words.data();
  given.cpu_word_count = options.cpu_words.size();
  given.npu_policy = options.npu_policy;
  given.npu_time_limit_ns = options.npu_time_limit_ns;
  given.timeout_ns = options.timeout_ns;
  given.future_argument_count = futures.size();
  given.future_arguments = futures.data();
  given.result_buffer_count = result_buffers.size();
  given.result_buffers = result_buffers.data();
  std::unique_ptr<internal::DoneFunction> on_done;
  if (options.on_done) {
    on_done = std::make_unique<internal::DoneFunction>(options.on_done);
    given.on_done = &internal::CallDone;
    given.user_data = on_done.get();
  }
  takt_invocation_t* invocation = nullptr;
  takt_status_t status =
      takt_async_invoke(function.get(), &given, arguments.size(),
                        reinterpret_cast<const takt_value_t*>(arguments.data()),
                        options.wait.get(), options.signal.get(), &invocation);
  if (status == nullptr) {
    (void)on_done.release();  // CallDone() owns it.
    for (size_t i = 0; i < arguments.size() && i < 64; ++i) {
      if ((options.moved_arguments >> i & 1) == 0) continue;
      // The call owns the reference now.
      (void)arguments[i].release();
    }
  }
  return TakeResult<Invocation>(status, invocation);
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_ASYNC_HPP_
