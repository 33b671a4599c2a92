// takt/executor.h - the worker threads of an instance: where they come from,
// what the system granted them, and what they have done.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_EXECUTOR_H_
#define TAKT_EXECUTOR_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

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
  uint32_t worker_count;          // Started; 0 if nothing has needed them yet.
  uint32_t awake_count;           // Threads that run or look for work now.
  takt_executor_counts_t donors;  // Of all callers that worked as they waited.
} takt_executor_statistics_t;

TAKT_EXPORT void takt_instance_query_executor_statistics(
    takt_instance_t* instance, takt_executor_statistics_t* out_statistics);

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

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_EXECUTOR_H_
