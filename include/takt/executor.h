// takt/executor.h - worker threads: those of an instance and additional ones,
// the placement that the system granted them, and their statistics.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_EXECUTOR_H_
#define TAKT_EXECUTOR_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Options of an executor: workers on some of the CPUs, for the devices that
// name the executor. An example is a device that has a cluster to itself.
// Executors do not steal work from each other.
typedef struct takt_executor_options_t {
  size_t struct_size;  // Set by init.
  // Three conditions select the CPUs. Each CPU that meets all of them gets one
  // worker, which stays on it.
  const char* cpus;   // Such as "0-3,8"; borrowed. Default: NULL, all.
  int32_t cluster;    // The cluster's index in the topology. Default: -1, any.
  int32_t numa_node;  // The system's number. Default: -1, any.
  // The largest number of workers, at least 1. Default:
  // TAKT_WORKER_COUNT_DEFAULT, one for each CPU.
  int32_t worker_count;
  // As in takt_instance_options_t.
  int64_t spin_ns;
  size_t stack_bytes;  // Default: 0.
  int32_t fifo_priority;
  takt_thread_hooks_t threads;  // All NULL: the instance's.
  // Names the threads "NAME-0" and so on. At most 10 characters; borrowed.
  // Default: "takt".
  const char* name;
  // As worker_backup_threads of takt_instance_options_t. Default: true.
  bool backup_threads;
  // As worker_budget_ns and worker_period_ns there. Default: 0 and 0.
  int64_t budget_ns;
  int64_t period_ns;
} takt_executor_options_t;

static inline void takt_executor_options_init(
    takt_executor_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->cluster = -1;
  options->numa_node = -1;
  options->worker_count = TAKT_WORKER_COUNT_DEFAULT;
  options->name = "takt";
  options->backup_threads = true;
}

// Starts an executor. Its workers run until the instance is destroyed, even if
// the executor is released earlier, so a program should make few executors.
// They do not keep the instance alive.
//
//   options       NULL for the defaults: one worker on each CPU.
//   out_executor  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT    no CPU meets all conditions (the message lists the
//                       CPUs); a worker option that takt_instance_create() also
//                       refuses.
//   RESOURCE_EXHAUSTED  no thread could be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_executor_create(
    takt_instance_t* instance, const takt_executor_options_t* options,
    takt_executor_t** out_executor);

// Adds a reference.
TAKT_EXPORT void takt_executor_retain(takt_executor_t* executor);

// Releases a reference. The workers run until the instance is destroyed.
TAKT_EXPORT void takt_executor_release(takt_executor_t* executor);

// Returns the executor of the instance's own workers, borrowed from the
// instance; NULL as long as no device has needed workers.
TAKT_EXPORT takt_executor_t* takt_instance_executor(takt_instance_t* instance);

// Counters of the threads of an executor. The threads may increment them while
// they are read.
typedef struct takt_executor_counts_t {
  uint64_t job_count;         // Dispatches, transfers and closures completed.
  uint64_t tile_count;        // Workgroups run.
  uint64_t range_count;       // Ranges in which workgroups were claimed.
  uint64_t near_steal_count;  // Steals from a worker of the same cluster.
  uint64_t far_steal_count;   // Steals from a worker of another cluster.
  uint64_t preemption_count;  // Stops in favour of more urgent work.
  uint64_t park_count;        // Times that the thread went to sleep.
  uint64_t wake_count;        // Threads that it has woken.
} takt_executor_counts_t;

// Set struct_size to sizeof before the call; nothing beyond it is written.
typedef struct takt_executor_statistics_t {
  size_t struct_size;
  uint32_t worker_count;  // Workers that were started.
  uint32_t awake_count;   // Threads that run or look for work now.
  // Sums over all callers that ran jobs while they waited.
  takt_executor_counts_t helping_callers;
  // Sums over the backup threads (worker_backup_threads).
  takt_executor_counts_t backup_threads;
  // Cores shared with other processes (cores_path of takt_instance_options_t).
  uint64_t yield_count;       // Times that a thread gave its core away.
  int64_t yield_ns;           // For how long, of all threads together.
  uint64_t taken_back_count;  // Claims of processes that died or hung.
  uint32_t peer_count;        // Other executors that share the file now.
  uint32_t backup_count;      // Backup threads that were started.
} takt_executor_statistics_t;

// Reads the statistics of an executor; zeros for NULL.
TAKT_EXPORT void takt_executor_query_statistics(
    takt_executor_t* executor, takt_executor_statistics_t* out_statistics);

// Set struct_size to sizeof before the call. CPUs as masks of the first 64.
typedef struct takt_worker_statistics_t {
  size_t struct_size;
  bool is_running;          // The thread has started.
  uint64_t thread_id;       // The kernel's number.
  uint64_t placement_mask;  // The CPUs that Takt asked for.
  uint64_t affinity_mask;   // The CPUs that the kernel allows.
  int32_t affinity_error;   // errno if the kernel refused the CPUs; else 0.
  int32_t fifo_priority;    // The kernel's value; 0: not real-time.
  int32_t priority_error;   // errno if the kernel refused the priority; else 0.
  uint64_t local_bytes;     // Scratch memory of the worker.
  takt_executor_counts_t counts;
  int64_t budget_ns;     // What the kernel reserves in each period; 0: nothing.
  int64_t period_ns;     // That period.
  int32_t budget_error;  // errno if the kernel refused the budget; else 0.
} takt_worker_statistics_t;

// Reads the statistics of one worker. Returns false if there is no such worker
// or it was not started yet; *out_statistics is then unchanged, or zeros if
// `executor` is NULL.
TAKT_EXPORT bool takt_executor_query_worker_statistics(
    takt_executor_t* executor, uint32_t worker,
    takt_worker_statistics_t* out_statistics);

// Asks the system to run the calling thread soon after it wakes up, although
// workers and other threads keep the processors busy. For an application's
// thread that sleeps until a control period begins and then calls functions: an
// ordinary thread may wait for a tick of the kernel (4 ms) once in a hundred
// times. The function asks for short time slices (Linux 6.12 and later), timers
// that are not delayed by up to 50 us, and a nice value 15 lower (RLIMIT_NICE
// or CAP_SYS_NICE). A request that the system refuses has no effect, and a
// real-time policy stays. The effect lasts as long as the thread.
//
// Returns true if the thread now has a real-time policy or short time slices.
TAKT_EXPORT bool takt_thread_request_low_latency(void);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_EXECUTOR_H_
