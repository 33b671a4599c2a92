#include "takt/executor.h"

#include <algorithm>
#include <cstring>

#include "api/handle.h"
#include "api/instance.h"
#include "exec/executor.h"

namespace takt::api {
namespace {

takt_executor_counts_t Counts(const exec::ExecutorStatistics::Counts& counts) {
  return {counts.job_count,       counts.tile_count,
          counts.range_count,     counts.near_steal_count,
          counts.far_steal_count, counts.preemption_count,
          counts.park_count,      counts.wake_count};
}

uint64_t MaskOf(const CpuSet& cpus) {
  uint64_t mask = 0;
  cpus.ForEach([&mask](uint32_t cpu) {
    if (cpu < 64) mask |= uint64_t{1} << cpu;
  });
  return mask;
}

// As much as the caller has room for.
template <typename T>
void Store(T statistics, T* out) {
  statistics.struct_size = out->struct_size;
  std::memcpy(out, &statistics, std::min(out->struct_size, sizeof(T)));
}

exec::ExecutorStatistics Read(Instance& instance) {
  const Ref<exec::Executor> executor = instance.FindExecutor();
  return executor != nullptr ? executor->statistics()
                             : exec::ExecutorStatistics();
}

}  // namespace
}  // namespace takt::api

void takt_instance_query_executor_statistics(
    takt_instance_t* instance, takt_executor_statistics_t* out_statistics) {
  const takt::exec::ExecutorStatistics read =
      takt::api::Read(*takt::api::Unwrap(instance));
  takt_executor_statistics_t result = {};
  result.worker_count = static_cast<uint32_t>(read.workers.size());
  result.awake_count = read.awake_count;
  result.donors = takt::api::Counts(read.donors);
  takt::api::Store(result, out_statistics);
}

bool takt_instance_query_worker_statistics(
    takt_instance_t* instance, uint32_t worker,
    takt_worker_statistics_t* out_statistics) {
  const takt::exec::ExecutorStatistics read =
      takt::api::Read(*takt::api::Unwrap(instance));
  if (worker >= read.workers.size()) return false;
  const takt::exec::ExecutorStatistics::Worker& from = read.workers[worker];
  takt_worker_statistics_t result = {};
  result.is_running = from.thread.is_running;
  result.thread_id = from.thread.thread_id;
  result.placement_mask = takt::api::MaskOf(from.placement);
  result.affinity_mask = takt::api::MaskOf(from.thread.cpus);
  result.affinity_error = from.thread.affinity_error;
  result.fifo_priority = from.thread.fifo_priority;
  result.priority_error = from.thread.priority_error;
  result.local_bytes = from.local_bytes;
  result.counts = takt::api::Counts(from.counts);
  takt::api::Store(result, out_statistics);
  return true;
}
