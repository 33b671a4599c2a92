// The workers of an executor: what a caller asks for, and what the machine has.
//
// Thread-safety: plain data and pure functions.
#ifndef TAKT_RUNTIME_WORKER_OPTIONS_H_
#define TAKT_RUNTIME_WORKER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "base/cpu_set.h"
#include "base/thread.h"
#include "base/thread_reservation.h"
#include "exec/executor.h"
#include "topology/topology.h"

namespace takt::runtime {

// The highest priority that Linux has for SCHED_FIFO.
inline constexpr int32_t kFifoPriorityMax = 99;

// takt/instance.h documents these.
struct WorkerOptions {
  // As many workers as there are CPUs that this process may use.
  static constexpr int32_t kDefaultCount = -1;

  int32_t count = kDefaultCount;
  // "0-3,8": a worker on each of these. None: the kernel places the workers.
  absl::optional<std::string> cpus;
  int64_t spin_ns = 0;
  size_t stack_bytes = 0;     // 0: as large as the main thread's may become.
  int32_t fifo_priority = 0;  // 0: ordinary threads.
  ThreadReservation reservation;
  ThreadHooks hooks;
  bool backup_threads = true;
  std::string cores_path;  // Empty: none.
  int32_t cores_share_permille = 0;
};

// Workers on a part of the machine. takt/executor.h documents these.
struct ExecutorOptions {
  // `cpus` says where workers may be; none: all CPUs of the topology.
  WorkerOptions workers;
  int32_t cluster = -1;    // An index among the topology's; -1: any.
  int32_t numa_node = -1;  // The system's number; -1: any.
  std::string name;
};

// The workers as the machine can have them.
struct ResolvedWorkers {
  exec::Executor::Options options;  // Its topology is borrowed.
  uint32_t wanted_count = 0;
  CpuSet absent_cpus;  // The caller named them, and the machine lacks them.
};

// INVALID_ARGUMENT naming the option. `topology` may be null, and outlives the
// result.
absl::StatusOr<ResolvedWorkers> ResolveWorkers(
    const WorkerOptions& options, const topology::Topology* topology);
absl::StatusOr<ResolvedWorkers> ResolveExecutor(
    const ExecutorOptions& options, const topology::Topology& topology);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_WORKER_OPTIONS_H_
