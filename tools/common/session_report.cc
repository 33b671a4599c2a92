#include "tools/common/session_report.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "takt/npu.h"

namespace takt::tools {
namespace {

void PrintCounts(const takt_executor_counts_t& counts) {
  std::fprintf(stderr,
               "%" PRIu64 " jobs / %" PRIu64 " tiles in %" PRIu64
               " ranges / %" PRIu64 " stolen, %" PRIu64 " from afar / %" PRIu64
               " preemptions / %" PRIu64 " parks / %" PRIu64 " wakes\n",
               counts.job_count, counts.tile_count, counts.range_count,
               counts.near_steal_count + counts.far_steal_count,
               counts.far_steal_count, counts.preemption_count,
               counts.park_count, counts.wake_count);
}

void PrintRefusal(const char* what, int32_t error) {
  if (error == 0) return;
  std::fprintf(stderr, "  %s refused: %s\n", what, std::strerror(error));
}

void PrintWorkers(const Instance& instance) {
  takt_executor_statistics_t executor = {};
  executor.struct_size = sizeof(executor);
  takt_executor_query_statistics(takt_instance_executor(instance.get()),
                                 &executor);
  if (executor.worker_count == 0) return;
  std::fprintf(stderr, "Callers: ");
  PrintCounts(executor.helping_callers);
  std::fprintf(stderr, "Backup threads: ");
  PrintCounts(executor.backup_threads);
  if (executor.peer_count + executor.yield_count > 0) {
    std::fprintf(stderr,
                 "Cores: %" PRIu32 " peers / %" PRIu64
                 " yields, %.3f ms / %" PRIu64 " taken back\n",
                 executor.peer_count, executor.yield_count,
                 static_cast<double>(executor.yield_ns) * 1e-6,
                 executor.taken_back_count);
  }
  for (uint32_t i = 0; i < executor.worker_count; ++i) {
    takt_worker_statistics_t worker = {};
    worker.struct_size = sizeof(worker);
    takt_executor_query_worker_statistics(
        takt_instance_executor(instance.get()), i, &worker);
    std::fprintf(stderr, "Worker %u: CPUs 0x%" PRIx64 ": ", i,
                 worker.affinity_mask);
    PrintCounts(worker.counts);
    PrintRefusal("affinity", worker.affinity_error);
    PrintRefusal("SCHED_FIFO", worker.priority_error);
    PrintRefusal("SCHED_DEADLINE", worker.budget_error);
  }
}

void PrintShortfalls(const Instance& instance) {
  const takt_instance_statistics_t statistics = instance.statistics();
  if (statistics.worker_count != 0 &&
      statistics.worker_count < statistics.wanted_worker_count) {
    std::fprintf(stderr, "Workers: %u of %u that were asked for\n",
                 statistics.worker_count, statistics.wanted_worker_count);
  }
  if (statistics.absent_cpu_count != 0) {
    std::fprintf(stderr, "CPUs that do not exist here: %u\n",
                 statistics.absent_cpu_count);
  }
  if (statistics.may_be_throttled) {
    std::fprintf(stderr,
                 "Real-time workers may take all CPUs, and be throttled\n");
  }
  if (statistics.unused_npu_count != 0) {
    std::fprintf(stderr, "NPUs without code for them: %u\n",
                 statistics.unused_npu_count);
  }
  if (statistics.missing_backup_count != 0) {
    std::fprintf(stderr, "Workers without a backup thread: %u\n",
                 statistics.missing_backup_count);
  }
  if (statistics.refused_thread_count != 0) {
    std::fprintf(stderr, "Threads that did not start: %u\n",
                 statistics.refused_thread_count);
  }
  if (statistics.failed_capture_count != 0) {
    std::fprintf(stderr, "Captures that were not written: %u\n",
                 statistics.failed_capture_count);
  }
  if (statistics.spare_block_count != 0) {
    std::fprintf(stderr, "Blocks of spare memory used: %" PRIu64 "\n",
                 statistics.spare_block_count);
  }
  if (statistics.lost_advisor_count != 0) {
    std::fprintf(stderr, "Plans that were given up: %" PRIu64 "\n",
                 statistics.lost_advisor_count);
  }
}

// Nothing for a device without an NPU.
void PrintNpu(const Device& device) {
  takt_npu_statistics_t npu = {};
  npu.struct_size = sizeof(npu);
  if (!takt_npu_device_statistics(device.get(), &npu)) return;
  std::fprintf(stderr,
               "  NPU: %" PRIu64 " batches / %" PRIu64 " operations / %" PRIu64
               " multiply-adds / %.3f ms busy\n",
               npu.batch_count, npu.operation_count, npu.mac_count,
               static_cast<double>(npu.busy_ns) / 1e6);
  const uint64_t faults = npu.failed_count + npu.corrupted_count +
                          npu.time_out_count + npu.overheated_count +
                          npu.lost_count;
  std::fprintf(stderr,
               "  NPU faults: %" PRIu64 " (%" PRIu64 " failed, %" PRIu64
               " corrupted, %" PRIu64 " late, %" PRIu64 " too hot, %" PRIu64
               " lost) / %" PRIu64 " retries / %" PRIu64 " resets / %" PRIu64
               " quarantines / %" PRIu64 " errors that remained\n",
               faults, npu.failed_count, npu.corrupted_count,
               npu.time_out_count, npu.overheated_count, npu.lost_count,
               npu.retry_count, npu.reset_count, npu.quarantine_count,
               npu.error_count);
  std::fprintf(stderr,
               "  NPU work done by the CPU: %" PRIu64 " after errors / %" PRIu64
               " that the NPU cannot do / %" PRIu64 " dispatches (%" PRIu64
               " went to the NPU)\n",
               npu.fallback_count, npu.unsupported_count, npu.left_to_cpu_count,
               npu.taken_count);
}

}  // namespace

void PrintDevices(const Session& session) {
  for (const Device& device : session.devices) {
    const takt_device_statistics_t statistics = device.statistics();
    std::fprintf(stderr,
                 "Device: %s\n  memory: %" PRIu64 " B peak / %" PRIu64
                 " B held / %" PRIu64 " B in use / %" PRIu64 " allocations\n",
                 std::string(device.name()).c_str(), statistics.bytes_peak,
                 statistics.bytes_committed, statistics.bytes_reserved,
                 statistics.allocation_count);
    PrintNpu(device);
  }
}

void PrintStatistics(const Session& session) {
  PrintDevices(session);
  PrintWorkers(session.instance);
  PrintShortfalls(session.instance);
}

void PrintDispatches(DispatchRecorder* recorder) {
  std::fprintf(stderr, "%-12s %10s %14s %12s %12s %12s  %s\n", "device",
               "dispatches", "total us", "mean us", "least us", "most us",
               "kernel");
  for (const DispatchRecorder::Row& row : recorder->Take()) {
    const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1e3; };
    std::fprintf(stderr,
                 "%-12s %10" PRIu64 " %14.3f %12.3f %12.3f %12.3f  %s\n",
                 row.device.c_str(), row.count, us(row.total_ns),
                 us(row.total_ns) / static_cast<double>(row.count),
                 us(row.minimum_ns), us(row.maximum_ns), row.function.c_str());
  }
}

}  // namespace takt::tools
