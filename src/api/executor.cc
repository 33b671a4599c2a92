#include "takt/executor.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "api/options.h"
#include "base/thread_latency.h"
#include "exec/executor.h"
#include "runtime/instance.h"

namespace takt::api {
namespace {

takt_executor_counts_t Counts(const exec::ExecutorStatistics::Counts& counts) {
  return {counts.job_count,       counts.tile_count,
          counts.range_count,     counts.near_steal_count,
          counts.far_steal_count, counts.preemption_count,
          counts.park_count,      counts.wake_count};
}

// The first 64 CPUs of the set.
uint64_t MaskOf(const CpuSet& cpus) {
  return cpus.words().empty() ? 0 : cpus.words()[0];
}

absl::StatusOr<Ref<exec::Executor>> CreateExecutor(
    takt_instance_t* instance, const takt_executor_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_executor_options_t given,
                        ReadOptions(options, &takt_executor_options_init));
  TAKT_RETURN_IF_ERROR(Require(given.name, "options: name"));
  runtime::ExecutorOptions result;
  result.workers.count = given.worker_count;
  if (given.cpus != nullptr) result.workers.cpus = given.cpus;
  result.workers.spin_ns = given.spin_ns;
  result.workers.stack_bytes = given.stack_bytes;
  result.workers.fifo_priority = given.fifo_priority;
  result.workers.reservation = {given.budget_ns, given.period_ns};
  result.workers.hooks = ReadThreadHooks(given.threads);
  result.workers.backup_threads = given.backup_threads;
  result.cluster = given.cluster;
  result.numa_node = given.numa_node;
  result.name = given.name;
  return Unwrap(instance)->CreateExecutor(std::move(result));
}

void GiveExecutor(const exec::ExecutorStatistics& read,
                  takt_executor_statistics_t* out) {
  takt_executor_statistics_t result = {};
  result.worker_count = static_cast<uint32_t>(read.workers.size());
  result.awake_count = read.awake_count;
  result.helping_callers = Counts(read.helping_callers);
  result.backup_threads = Counts(read.backup_threads);
  result.yield_count = read.cores.yield_count;
  result.yield_ns = read.cores.yield_ns;
  result.taken_back_count = read.cores.taken_back_count;
  result.peer_count = read.cores.peer_count;
  result.backup_count = read.backup_count;
  WriteSized(result, out);
}

bool GiveWorker(const exec::ExecutorStatistics& read, uint32_t worker,
                takt_worker_statistics_t* out) {
  if (worker >= read.workers.size()) return false;
  const exec::ExecutorStatistics::Worker& from = read.workers[worker];
  takt_worker_statistics_t result = {};
  result.is_running = from.thread.is_running;
  result.thread_id = from.thread.thread_id;
  result.placement_mask = MaskOf(from.placement);
  result.affinity_mask = MaskOf(from.thread.cpus);
  result.affinity_error = from.thread.affinity_error;
  result.fifo_priority = from.thread.fifo_priority;
  result.priority_error = from.thread.priority_error;
  result.local_bytes = from.local_bytes;
  result.counts = Counts(from.counts);
  result.budget_ns = from.thread.reservation.budget_ns;
  result.period_ns = from.thread.reservation.period_ns;
  result.budget_error = from.thread.reservation_error;
  WriteSized(result, out);
  return true;
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_executor_create(takt_instance_t* instance,
                                   const takt_executor_options_t* options,
                                   takt_executor_t** out_executor) {
  TAKT_REQUIRE(instance, out_executor);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::CreateExecutor(instance, options), out_executor);
  }
  TAKT_CATCH_ALL(instance, out_executor);
}

void takt_executor_retain(takt_executor_t* executor) {
  takt::api::RetainHandle(executor);
}

void takt_executor_release(takt_executor_t* executor) {
  takt::api::ReleaseHandle(executor);
}

takt_executor_t* takt_instance_executor(takt_instance_t* instance) {
  TAKT_REQUIRE_OR(nullptr, instance);
  TAKT_TRY {
    // The instance keeps its executor, so the pointer outlives this reference.
    const takt::Ref<takt::exec::Executor> executor =
        Unwrap(instance)->FindExecutor();
    return executor != nullptr ? takt::api::Wrap(executor.get()) : nullptr;
  }
  TAKT_CATCH_ALL_OR(nullptr, instance);
}

void takt_executor_query_statistics(
    takt_executor_t* executor, takt_executor_statistics_t* out_statistics) {
  TAKT_IGNORE_NULL(executor, out_statistics);
  TAKT_TRY {
    takt::api::GiveExecutor(Unwrap(executor)->statistics(), out_statistics);
  }
  TAKT_CATCH_ALL_OR(, executor, out_statistics);
}

bool takt_executor_query_worker_statistics(
    takt_executor_t* executor, uint32_t worker,
    takt_worker_statistics_t* out_statistics) {
  TAKT_REQUIRE_OR(false, executor, out_statistics);
  TAKT_TRY {
    return takt::api::GiveWorker(Unwrap(executor)->statistics(), worker,
                                 out_statistics);
  }
  TAKT_CATCH_ALL_OR(false, executor, out_statistics);
}

bool takt_thread_request_low_latency() { return takt::RequestLowLatency(); }
