#include "takt/realtime.h"

#include <algorithm>

#include "abi/guard.h"
#include "abi/status.h"
#include "api/handle.h"
#include "api/options.h"
#include "base/memory_lock.h"
#include "base/realtime_section.h"
#include "base/text_file.h"
#include "base/thread_usage.h"

namespace takt::api {
namespace {

constexpr uint64_t kStackMaxBytes = uint64_t{64} << 20;
constexpr int64_t kNsPerUs = 1000;

// A time of /proc/sys/kernel in microseconds: -1 and 0 stay.
int64_t ReadThrottleNs(const char* path) {
  const int64_t us = ReadNumberFile<int64_t>(path).value_or(0);
  return us > 0 ? us * kNsPerUs : us;
}

absl::Status Prepare(const takt_realtime_options_t* options,
                     takt_realtime_result_t* out) {
  TAKT_ASSIGN_OR_RETURN(const takt_realtime_options_t given,
                        ReadOptions(options, &takt_realtime_options_init));
  if (given.stack_bytes > kStackMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: stack_bytes: ", given.stack_bytes,
                     ", more than ", kStackMaxBytes));
  }
  takt_realtime_result_t result = {};
  if (given.keep_heap) KeepHeap();
  // The lock first: what is touched afterwards stays.
  if (given.lock_memory) result.lock_error = LockMemory(given.lock_on_fault);
  result.stack_bytes = TouchStack(given.stack_bytes);
  if (given.heap_bytes > 0) {
    result.heap_error = TouchHeap(given.heap_bytes);
    if (result.heap_error == 0) result.heap_bytes = given.heap_bytes;
  }
  result.lock_limit_bytes = MemoryLockLimit();
  result.locked_bytes = LockedBytes();
  result.fifo_priority_max = MaxFifoPriority();
  result.throttle_run_ns =
      ReadThrottleNs("/proc/sys/kernel/sched_rt_runtime_us");
  result.throttle_period_ns =
      ReadThrottleNs("/proc/sys/kernel/sched_rt_period_us");
  WriteSized(result, out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_realtime_prepare(const takt_realtime_options_t* options,
                                    takt_realtime_result_t* out_result) {
  TAKT_REQUIRE(out_result);
  TAKT_TRY {
    return takt::api::ToStatus(__func__,
                               takt::api::Prepare(options, out_result));
  }
  TAKT_CATCH_ALL(out_result);
}

bool takt_thread_query_usage(uint64_t thread_id,
                             takt_thread_usage_t* out_usage) {
  TAKT_REQUIRE_OR(false, out_usage);
  TAKT_TRY {
    const auto read = takt::ReadThreadUsage(thread_id);
    takt_thread_usage_t result = {};
    if (read.has_value()) {
      result.run_ns = read->run_ns;
      result.run_queue_ns = read->run_queue_ns;
      result.run_count = read->run_count;
      result.minor_fault_count = read->minor_fault_count;
      result.major_fault_count = read->major_fault_count;
    }
    takt::api::WriteSized(result, out_usage);
    return read.has_value();
  }
  TAKT_CATCH_ALL_OR(false, out_usage);
}

void takt_realtime_begin(const char* name) {
  takt::RealtimeSection::Begin(name);
}

void takt_realtime_end() { takt::RealtimeSection::End(); }

uint64_t takt_realtime_violation_count() {
  return takt::RealtimeSection::violation_count();
}
