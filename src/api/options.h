// Options of the C API, read into the C++ structs of the runtime.
#ifndef TAKT_API_OPTIONS_H_
#define TAKT_API_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/job_attributes.h"
#include "base/thread.h"
#include "runtime/call_options.h"
#include "takt/async.h"
#include "takt/function.h"
#include "takt/instance.h"

namespace takt::api {

// INVALID_ARGUMENT naming the option, which `policy_name` and `limit_name` say.
absl::StatusOr<JobFaultPolicy> ReadFaultPolicy(absl::string_view policy_name,
                                               takt_npu_policy_t policy,
                                               absl::string_view limit_name,
                                               int64_t time_limit_ns);

ThreadHooks ReadThreadHooks(const takt_thread_hooks_t& hooks);

// TAKT_PRIORITY_DEFAULT and TAKT_DEADLINE_DEFAULT are left to the annotations.
absl::optional<int32_t> ReadPriority(int32_t priority);
absl::optional<int64_t> ReadDeadline(int64_t deadline_ns);
// INVALID_ARGUMENT if the words are NULL, but not their count.
absl::StatusOr<absl::Span<const uint64_t>> ReadCpuWords(const uint64_t* words,
                                                        size_t word_count);

// `options` as ReadOptions() returns them. INVALID_ARGUMENT naming the option.
// The result borrows what they point to.
absl::StatusOr<runtime::CallOptions> ReadCallOptions(
    const takt_invoke_options_t& options);
absl::StatusOr<runtime::AsyncCallOptions> ReadAsyncOptions(
    const takt_async_options_t& options);

}  // namespace takt::api

#endif  // TAKT_API_OPTIONS_H_
