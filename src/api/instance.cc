#include "runtime/instance.h"

#include <memory>
#include <utility>

#include "abi/guard.h"
#include "abi/null.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/scheduler.h"
#include "api/scheduler_windows.h"
#include "api/topology.h"
#include "base/status.h"
#include "takt/instance.h"
#include "takt/scheduler.h"

namespace takt::api {
namespace {

absl::StatusOr<MemorySource> ReadAllocator(const takt_allocator_t& given) {
  if ((given.allocate == nullptr) != (given.free == nullptr)) {
    return absl::InvalidArgumentError(
        "options: allocator: one of its two functions is NULL");
  }
  if (given.allocate == nullptr) return MemorySource();
  return MemorySource{given.allocate, given.free, given.user_data};
}

runtime::Log::Sink ReadLogSink(const takt_log_sink_t& sink) {
  if (sink.write == nullptr) return nullptr;
  return [sink](runtime::LogSeverity severity, const std::string& message) {
    sink.write(sink.user_data, static_cast<takt_log_severity_t>(severity),
               message.c_str());
  };
}

absl::StatusOr<Ref<runtime::Instance>> CreateInstance(
    const takt_instance_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_instance_options_t given,
                        ReadOptions(options, &takt_instance_options_init));
  runtime::InstanceOptions result;
  result.workers.count = given.worker_count;
  if (given.worker_cpus != nullptr) result.workers.cpus = given.worker_cpus;
  result.workers.spin_ns = given.worker_spin_ns;
  result.workers.stack_bytes = given.worker_stack_bytes;
  result.workers.fifo_priority = given.worker_fifo_priority;
  result.workers.reservation = {given.worker_budget_ns, given.worker_period_ns};
  result.workers.hooks = ReadThreadHooks(given.worker_threads);
  result.workers.backup_threads = given.worker_backup_threads;
  if (given.cores_path != nullptr) {
    result.workers.cores_path = given.cores_path;
  }
  result.workers.cores_share_permille = given.cores_share_permille;
  TAKT_ASSIGN_OR_RETURN(result.memory_source, ReadAllocator(given.allocator));
  result.log_sink = ReadLogSink(given.log_sink);
  if (given.topology != nullptr) {
    result.topology = Unwrap(given.topology)->shared();
  }
  result.timer_spin_ns = given.timer_spin_ns;
  result.timer_fifo_priority = given.timer_fifo_priority;
  TAKT_ASSIGN_OR_RETURN(
      const takt_scheduler_options_t scheduler,
      ReadOptions(given.scheduler, &takt_scheduler_options_init));
  TAKT_ASSIGN_OR_RETURN(result.scheduler, ReadScheduler(scheduler));
  TAKT_ASSIGN_OR_RETURN(result.make_advisor, ReadWindows(scheduler));
  result.fault_reports = given.fault_reports;
  result.host_loop = given.host_loop;
  return runtime::Instance::Create(std::move(result));
}

absl::Status RunReady(runtime::Instance& instance, int64_t max_ns,
                      size_t* out_ran, int64_t* out_next_ns) {
  TAKT_ASSIGN_OR_RETURN(const auto work, instance.RunReady(max_ns));
  if (out_ran != nullptr) *out_ran = work.ran_count;
  if (out_next_ns != nullptr) *out_next_ns = work.next_ns;
  return absl::OkStatus();
}

absl::Status QueryStatistics(runtime::Instance& instance,
                             takt_instance_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  const runtime::InstanceStatistics read = instance.statistics();
  takt_instance_statistics_t result = {};
  result.wanted_worker_count = read.wanted_worker_count;
  result.worker_count = read.worker_count;
  result.absent_cpu_count = read.notices.absent_cpu_count;
  result.worker_priority_error = read.notices.worker_priority_error;
  result.worker_affinity_error = read.notices.worker_affinity_error;
  result.timer_priority_error = read.notices.timer_priority_error;
  result.may_be_throttled = read.notices.may_be_throttled;
  result.callers_stream_count = read.notices.callers_stream_count;
  result.unused_npu_count = read.notices.unused_npu_count;
  result.missing_backup_count = read.notices.missing_backup_count;
  result.refused_thread_count = read.notices.refused_thread_count;
  result.failed_capture_count = read.notices.failed_capture_count;
  result.spare_block_count = read.spare_block_count;
  result.lost_advisor_count = read.lost_advisor_count;
  result.worker_budget_error = read.notices.worker_reservation_error;
  WriteSized(result, out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_instance_create(const takt_instance_options_t* options,
                                   takt_instance_t** out_instance) {
  TAKT_REQUIRE(out_instance);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::CreateInstance(options),
                           out_instance);
  }
  TAKT_CATCH_ALL(out_instance);
}

void takt_instance_retain(takt_instance_t* instance) {
  takt::api::RetainHandle(instance);
}

void takt_instance_release(takt_instance_t* instance) {
  takt::api::ReleaseHandle(instance);
}

uint32_t takt_instance_worker_count(const takt_instance_t* instance) {
  TAKT_REQUIRE_OR(0, instance);
  return Unwrap(instance)->worker_count();
}

takt_status_t takt_instance_run_ready(takt_instance_t* instance, int64_t max_ns,
                                      size_t* out_ran, int64_t* out_next_ns) {
  TAKT_REQUIRE(instance, Optional(out_ran), Optional(out_next_ns));
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__,
        takt::api::RunReady(*Unwrap(instance), max_ns, out_ran, out_next_ns));
  }
  TAKT_CATCH_ALL(instance, Optional(out_ran), Optional(out_next_ns));
}

takt_status_t takt_instance_query_statistics(
    takt_instance_t* instance, takt_instance_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__,
        takt::api::QueryStatistics(*Unwrap(instance), out_statistics));
  }
  TAKT_CATCH_ALL(instance, out_statistics);
}

void takt_instance_trim(takt_instance_t* instance) {
  TAKT_IGNORE_NULL(instance);
  TAKT_TRY { Unwrap(instance)->Trim(); }
  TAKT_CATCH_ALL_OR(, instance);
}
