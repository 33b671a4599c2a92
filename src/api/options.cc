#include "api/options.h"

#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "runtime/async_call.h"

namespace takt::api {
namespace {

// An array of `count` items. INVALID_ARGUMENT if it is NULL and not empty.
template <typename T>
absl::StatusOr<absl::Span<const T>> ReadArray(absl::string_view name,
                                              const T* items, size_t count) {
  if (count != 0) {
    TAKT_RETURN_IF_ERROR(Require(items, absl::StrCat("options: ", name)));
  }
  return absl::MakeConstSpan(items, count);
}

absl::StatusOr<runtime::FewItems<runtime::IndexedFence>> ReadFences(
    absl::string_view name, const takt_indexed_fence_t* fences, size_t count) {
  TAKT_ASSIGN_OR_RETURN(const auto given, ReadArray(name, fences, count));
  runtime::FewItems<runtime::IndexedFence> result;
  for (const takt_indexed_fence_t& each : given) {
    result.push_back({each.index, Unwrap(each.fence)});
  }
  return result;
}

// Reads the options that both kinds of call have.
template <typename Options>
absl::Status ReadCommon(const Options& options, runtime::CallOptions* result) {
  result->step_limit = options.step_limit;
  result->memory_limit = options.memory_limit;
  result->priority = ReadPriority(options.priority);
  result->deadline_ns = ReadDeadline(options.deadline_ns);
  TAKT_ASSIGN_OR_RETURN(
      result->cpu_words,
      ReadCpuWords(options.cpu_words, options.cpu_word_count));
  TAKT_ASSIGN_OR_RETURN(
      result->fault_policy,
      ReadFaultPolicy("npu_policy", options.npu_policy, "npu_time_limit_ns",
                      options.npu_time_limit_ns));
  result->timeout_ns = options.timeout_ns;
  TAKT_ASSIGN_OR_RETURN(const auto buffers,
                        ReadArray("result_buffers", options.result_buffers,
                                  options.result_buffer_count));
  for (const takt_result_buffer_t& each : buffers) {
    result->result_buffers.push_back({each.index, Unwrap(each.view)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JobFaultPolicy> ReadFaultPolicy(absl::string_view policy_name,
                                               takt_npu_policy_t policy,
                                               absl::string_view limit_name,
                                               int64_t time_limit_ns) {
  const auto number = static_cast<int>(policy);
  if (number < TAKT_NPU_POLICY_DEVICE ||
      number > TAKT_NPU_POLICY_RETRY_FALLBACK) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: ", policy_name, ": ", number));
  }
  if (time_limit_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: ", limit_name, ": expected 0 or more, got ", time_limit_ns));
  }
  return JobFaultPolicy{static_cast<JobFaultPolicy::Action>(number),
                        time_limit_ns};
}

ThreadHooks ReadThreadHooks(const takt_thread_hooks_t& hooks) {
  return {hooks.user_data, hooks.create, hooks.join};
}

absl::optional<int32_t> ReadPriority(int32_t priority) {
  if (priority == TAKT_PRIORITY_DEFAULT) return absl::nullopt;
  return priority;
}

absl::optional<int64_t> ReadDeadline(int64_t deadline_ns) {
  if (deadline_ns == TAKT_DEADLINE_DEFAULT) return absl::nullopt;
  return deadline_ns;
}

absl::StatusOr<absl::Span<const uint64_t>> ReadCpuWords(const uint64_t* words,
                                                        size_t word_count) {
  if (words == nullptr && word_count != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: cpu_words: NULL, but cpu_word_count is ", word_count));
  }
  return absl::MakeConstSpan(words, word_count);
}

absl::StatusOr<runtime::CallOptions> ReadCallOptions(
    const takt_invoke_options_t& options) {
  runtime::CallOptions result;
  TAKT_RETURN_IF_ERROR(ReadCommon(options, &result));
  return result;
}

absl::StatusOr<runtime::AsyncCallOptions> ReadAsyncOptions(
    const takt_async_options_t& options) {
  runtime::AsyncCallOptions result;
  TAKT_RETURN_IF_ERROR(ReadCommon(options, &result));
  result.moved_arguments = options.moved_arguments;
  TAKT_ASSIGN_OR_RETURN(result.argument_fences,
                        ReadFences("argument_fences", options.argument_fences,
                                   options.argument_fence_count));
  TAKT_ASSIGN_OR_RETURN(result.result_fences,
                        ReadFences("result_fences", options.result_fences,
                                   options.result_fence_count));
  TAKT_ASSIGN_OR_RETURN(const auto futures,
                        ReadArray("future_arguments", options.future_arguments,
                                  options.future_argument_count));
  for (const takt_future_argument_t& each : futures) {
    result.future_arguments.push_back(
        {each.index, Unwrap(each.invocation), each.result_index});
  }
  result.cancellable = options.cancellable;
  result.batch = options.batch;
  return result;
}

}  // namespace takt::api
