// takt/instance.h - the root object: worker threads, types, caches.
//
// A process usually makes one instance and keeps it. Several instances share
// nothing. Every object that is made from an instance keeps it alive.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_INSTANCE_H_
#define TAKT_INSTANCE_H_

#include <string.h>

#include "takt/allocator.h"
#include "takt/base.h"
#include "takt/log_sink.h"
#include "takt/status.h"
#include "takt/topology.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_instance_t takt_instance_t;
typedef struct takt_executor_t takt_executor_t;  // takt/executor.h

// One worker for each CPU that this process may use.
#define TAKT_WORKER_COUNT_DEFAULT (-1)

#define TAKT_THREAD_NO_WORKER UINT32_MAX

// Threads that an application supplies instead of the system: the workers, the
// thread of timers, the poller of file descriptors and the thread of background
// planning (docs/executor.md has the table). The hooks must work until every
// run() has returned. That may be after the application has released the
// instance: a call that is ending may hold the last reference, and then the
// worker that ends it joins the other threads.
typedef struct takt_thread_hooks_t {
  void* user_data;
  // Calls run(argument) once, on a thread of its own, and stores the argument
  // for join() in `*out_thread`. `name` is borrowed. `worker` is the worker's
  // index from 0, or TAKT_THREAD_NO_WORKER for another thread. The hook must
  // not call the instance. It returns false if it has no thread. Then the
  // instance has fewer workers, and takt_instance_run_ready() does the work of
  // the other threads.
  bool (*create)(void* user_data, uint32_t worker, const char* name,
                 void (*run)(void* argument), void* argument,
                 void** out_thread);
  // Waits until that run() has returned. Not called for a worker that holds the
  // last reference to the instance. NULL: the application itself waits until
  // all have returned, before it releases the last reference.
  void (*join)(void* user_data, void* thread);
} takt_thread_hooks_t;

typedef struct takt_instance_options_t {
  size_t struct_size;  // Set by init: the size that the caller knows.
  // The number of threads that run the work of "local-task" devices. Callers
  // that wait run it, too; with 0 workers only they do. Workers are started
  // when the first one is needed.
  int32_t worker_count;
  takt_allocator_t allocator;  // All NULL: the system's.
  takt_log_sink_t log_sink;    // All NULL: to stderr.

  // The other members configure the threads; docs/executor.md explains when to
  // use them. If the system refuses a setting, the threads run without it. The
  // log says so once, and takt_instance_statistics_t and
  // takt_worker_statistics_t have the reason.

  // CPUs for the workers, such as "0-3,8": one worker on each, which stays
  // there. CPUs that do not exist are left out with a warning. worker_count is
  // then the largest number of workers. Borrowed. NULL: the kernel places the
  // workers.
  const char* worker_cpus;
  // The topology says which CPUs are near each other. Borrowed. NULL: that of
  // this machine if worker_cpus is set; else none.
  takt_topology_t* topology;
  // How long a worker without work looks for some before it sleeps. It also
  // starts operations of plans exactly meanwhile. A longer time makes the next
  // call start sooner and keeps a CPU busy. Default: 0.
  int64_t worker_spin_ns;
  // The size of a worker's stack. Default: 0, the size that the main thread's
  // stack may grow to (the soft limit RLIMIT_STACK), at least 1 MiB; 64 MiB if
  // there is no limit. Only the part that is used takes memory. A guard of 1
  // MiB lies below the stack.
  size_t worker_stack_bytes;
  // The SCHED_FIFO priority, 1 to 99, of a worker while it runs work of a
  // priority of 128 or more. It is an ordinary thread during less urgent work.
  // Default: 0, an ordinary thread.
  int32_t worker_fifo_priority;
  takt_thread_hooks_t worker_threads;  // All NULL: the system's threads.

  // The thread that releases the jobs of streams (takt/stream.h) wakes up so
  // long before a release, and spins until it is due. The kernel may wake a
  // sleeping thread late, by up to 2 ms on a small board. Default: 0, no
  // spinning.
  int64_t timer_spin_ns;
  // The SCHED_FIFO priority of that thread, 1 to 99. Default: 0, an ordinary
  // thread.
  int32_t timer_fifo_priority;

  // The scheduler decides which operation runs when (takt/scheduler.h).
  // Borrowed. NULL: one with the defaults of takt_scheduler_options_init().
  // With the policy "off" there is none: only the executor's lanes order the
  // work.
  const struct takt_scheduler_options_t* scheduler;

  // Each worker has a second thread, which sleeps. It runs when urgent work
  // waits while the worker is in a long workgroup of less urgent work. So
  // urgent work waits for a switch by the kernel, and not for the end of the
  // workgroup. Has no effect on threads of the application. Default: true.
  bool worker_backup_threads;

  // Installs handlers of SIGSEGV and SIGBUS. They write to stderr which kernel
  // caused a memory fault, such as one that needs more stack than its thread
  // has, and then call the handler that was installed before. Default: false,
  // because signals belong to the process.
  bool fault_reports;
  // The application has a loop of its own, which calls
  // takt_instance_run_ready(). The instance starts no thread for timers and no
  // poller. With a worker_count of 0 it then has no thread at all. Default:
  // false.
  bool host_loop;

  // The file by which processes share cores (docs/executor.md, "Several
  // processes"): each names the same one. It is made if it is not there; its
  // permissions say who takes part. Borrowed. NULL: this instance takes no
  // account of other processes.
  const char* cores_path;
  // The share of its cores, in thousandths, for which the work of this instance
  // goes before the best-effort work of other processes. Beyond it, its work
  // counts as best effort there. 1 to 1000; needs cores_path. Default: 0, no
  // share: priorities and deadlines alone decide.
  int32_t cores_share_permille;

  // Processor time of each worker (SCHED_DEADLINE): it gets worker_budget_ns in
  // each worker_period_ns before all other threads of the machine, and never
  // more than that. docs/executor.md ("Budgets") has the conditions. Not
  // together with worker_fifo_priority; such workers have no backup threads.
  // Default: 0 and 0, no budget.
  int64_t worker_budget_ns;
  int64_t worker_period_ns;
} takt_instance_options_t;

static inline void takt_instance_options_init(
    takt_instance_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->worker_count = TAKT_WORKER_COUNT_DEFAULT;
  options->worker_backup_threads = true;
}

// Creates an instance.
//
//   options       borrowed; NULL for the defaults.
//   out_instance  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT  struct_size is 0; worker_count is below -1 or above 1024;
//                     the allocator has only one of its functions; worker_cpus
//                     is not a list of CPUs, or none of them is in the
//                     topology; a time to spin is negative; a priority is above
//                     99; the scheduler's policy does not exist;
//                     cores_share_permille is above 1000 or has no cores_path.
// The errors of cores_path come from the first device with workers.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_instance_create(
    const takt_instance_options_t* options, takt_instance_t** out_instance);

// Adds a reference.
TAKT_EXPORT void takt_instance_retain(takt_instance_t* instance);

// Releases a reference. Objects of the instance have references, too. The last
// release destroys the instance and waits for its threads.
TAKT_EXPORT void takt_instance_release(takt_instance_t* instance);

// Returns the number of workers that run the work of "local-task" devices.
TAKT_EXPORT uint32_t
takt_instance_worker_count(const takt_instance_t* instance);

// Runs ready work on the calling thread, the most urgent first: timers that are
// due (releases of streams and timeouts), file descriptors that fences wait
// for, and the work that is queued for the workers. It is for an application
// with a loop of its own (takt_instance_options_t::host_loop,
// docs/embedding.md). If there are workers, it helps them. Callbacks of the
// work run on this thread.
//
//   max_ns        about how long to run. The call returns between two pieces of
//                 work: a workgroup, a program up to its next wait, a callback.
//                 0: it handles the timers and descriptors once, and runs no
//                 queued work.
//   out_ran       receives the number of pieces that ran. May be NULL.
//   out_next_ns   receives when (on takt_clock_now_ns()) to call again if
//                 nothing else happens: a time that has passed if work is left,
//                 TAKT_INFINITE_FUTURE if no timer is set. It does not foresee
//                 work that other threads submit, nor descriptors. May be NULL.
//
// Errors: INVALID_ARGUMENT  instance is NULL; max_ns is negative.
// Several threads may call it at once. Blocks: never. Allocates: only what the
// work itself allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_instance_run_ready(takt_instance_t* instance, int64_t max_ns,
                        size_t* out_ran, int64_t* out_next_ns);

// The settings that the system refused, work that no thread does, and what was
// done without memory or threads (docs/reliability.md). The log has one warning
// for each of the members up to refused_thread_count, which says what to do
// about it.
typedef struct takt_instance_statistics_t {
  size_t struct_size;            // Set by the caller.
  uint32_t wanted_worker_count;  // By worker_count and worker_cpus.
  // The actual number of workers; 0 before the first device that needs them.
  uint32_t worker_count;
  uint32_t absent_cpu_count;  // CPUs of worker_cpus that do not exist.
  // errno of the first refusal, for a worker or for the thread that releases
  // jobs; 0: the system refused nothing.
  int32_t worker_priority_error;
  int32_t worker_affinity_error;
  int32_t timer_priority_error;
  // True if real-time threads may take all CPUs. Then the kernel stops them for
  // a part of each second (sched_rt_runtime_us).
  bool may_be_throttled;
  // Streams that were started although there are no workers: only waiting
  // callers and takt_instance_run_ready() run their jobs.
  uint32_t callers_stream_count;
  // Contexts with an NPU whose modules have no code for it: the CPU does all
  // the work.
  uint32_t unused_npu_count;
  // Workers without a backup thread, although worker_backup_threads is set.
  uint32_t missing_backup_count;
  uint32_t failed_capture_count;  // Captures of streams that were not written.
  // Starts of threads that the system refused: those of timers, and those that
  // plan or write captures. Their work waits for the next start, or for
  // takt_instance_run_ready().
  uint32_t refused_thread_count;
  // Blocks of memory that the scheduler took from its spare memory.
  uint64_t spare_block_count;
  // Plans, and planning of windows, that the scheduler gave up.
  uint64_t lost_advisor_count;
  // errno of the first refusal of worker_budget_ns; 0: none.
  int32_t worker_budget_error;
} takt_instance_statistics_t;

// Reads the statistics of the instance.
//
// Errors: INVALID_ARGUMENT  an argument is NULL, or struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_instance_query_statistics(
    takt_instance_t* instance, takt_instance_statistics_t* out_statistics);

// Gives the idle memory of the instance back to the system. It also drops what
// the instance keeps for later contexts, and the devices that only these hold.
// takt_device_trim() does the same for a device.
TAKT_EXPORT void takt_instance_trim(takt_instance_t* instance);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_INSTANCE_H_
