// takt/executor.h - worker threads: further ones besides the instance's own,
// what the system granted them, and what they have done.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_EXECUTOR_H_
#define TAKT_EXECUTOR_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Workers on some of the CPUs, for the devices that name them: a cluster to
// itself, say, or cores that a control loop keeps. Nothing is stolen between
// executors.
typedef struct takt_executor_options_t {
  size_t struct_size;  // Set by init.
  // The CPUs, a worker each, which stays there: those that all of these say.
  const char* cpus;   // Such as "0-3,8"; borrowed. Default: NULL, all.
  int32_t cluster;    // An index among the topology's. Default: -1, any.
  int32_t numa_node;  // The system's number. Default: -1, any.
  // How many workers at most, at least 1. Default: TAKT_WORKER_COUNT_DEFAULT,
  // one a CPU.
  int32_t worker_count;
  // As in takt_instance_options_t.
  int64_t spin_ns;
  size_t stack_bytes;  // Default: 0.
  int32_t fifo_priority;
  takt_thread_hooks_t threads;  // All NULL: the instance's.
  // Of the threads: "NAME-0". At most 10 characters; borrowed. Default: "takt".
  const char* name;
  bool backup_threads;  // As worker_backup_threads there. Default: true.
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

// Starts workers. They run until the instance's last reference goes, whoever
// holds the executor, and do not keep the instance: make few.
//
//   options       NULL for the defaults, one on each CPU.
//   out_executor  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT    no CPU is what all of the options say (the message
//                       names those that there are); what
//                       takt_instance_create() refuses of workers.
//   RESOURCE_EXHAUSTED  no thread could be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_executor_create(
    takt_instance_t* instance, const takt_executor_options_t* options,
    takt_executor_t** out_executor);

TAKT_EXPORT void takt_executor_retain(takt_executor_t* executor);
TAKT_EXPORT void takt_executor_release(takt_executor_t* executor);

// What threads of the executor have done. Counts go on while they are read.
typedef struct takt_executor_counts_t {
  uint64_t job_count;         // Ended here: dispatches, transfers, closures.
  uint64_t tile_count;        // Workgroups run here.
  uint64_t range_count;       // Claims that they came in.
  uint64_t near_steal_count;  // Taken from another worker.
  uint64_t far_steal_count;   // The same, of another cluster.
  uint64_t preemption_count;  // Stops for something more urgent.
  uint64_t park_count;        // Times it went to sleep.
  uint64_t wake_count;        // Threads it has woken.
} takt_executor_counts_t;

// Set struct_size to sizeof before the call; what lies beyond it is not
// written.
typedef struct takt_executor_statistics_t {
  size_t struct_size;
  uint32_t worker_count;  // Started; 0 if nothing has needed them yet.
  uint32_t awake_count;   // Threads that run or look for work now.
  // Sums over all callers that ran jobs while they waited.
  takt_executor_counts_t helping_callers;
  // Sums over the backup threads (worker_backup_threads).
  takt_executor_counts_t backup_threads;
} takt_executor_statistics_t;

TAKT_EXPORT void takt_instance_query_executor_statistics(
    takt_instance_t* instance, takt_executor_statistics_t* out_statistics);

TAKT_EXPORT void takt_executor_query_statistics(
    takt_executor_t* executor, takt_executor_statistics_t* out_statistics);

// Set struct_size to sizeof before the call. CPUs as masks of the first 64.
typedef struct takt_worker_statistics_t {
  size_t struct_size;
  bool is_running;          // Its thread has come up.
  uint64_t thread_id;       // The kernel's.
  uint64_t placement_mask;  // Where it was to run.
  uint64_t affinity_mask;   // Where the kernel says it may.
  int32_t affinity_error;   // errno of what was refused; 0: nothing was.
  int32_t fifo_priority;    // As the kernel says; 0: not real-time.
  int32_t priority_error;   // errno of what was refused; 0: nothing was.
  uint64_t local_bytes;     // Scratch memory that it holds.
  takt_executor_counts_t counts;
} takt_worker_statistics_t;

// False, and nothing written, if there is no such worker (yet).
TAKT_EXPORT bool takt_instance_query_worker_statistics(
    takt_instance_t* instance, uint32_t worker,
    takt_worker_statistics_t* out_statistics);

TAKT_EXPORT bool takt_executor_query_worker_statistics(
    takt_executor_t* executor, uint32_t worker,
    takt_worker_statistics_t* out_statistics);

// Has the system let the calling thread, the application's, run soon after it
// wakes up, though workers and other threads keep the processors busy: for a
// thread that sleeps until a control period begins, say, and then calls. An
// ordinary thread may wait for a tick of the kernel, 4 ms, each hundredth time.
// It asks for short slices (Linux 6.12 and later), timers that are not gathered
// within 50 us, and a nice value 15 lower (RLIMIT_NICE, CAP_SYS_NICE). What is
// refused is left, and a real-time policy stays as it is. For the life of the
// thread.
//
// Returns true if it has a real-time policy or short slices now.
TAKT_EXPORT bool takt_thread_request_low_latency(void);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_EXECUTOR_H_
