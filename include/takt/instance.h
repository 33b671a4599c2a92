// takt/instance.h - the root object: worker threads, types, caches.
//
// A process makes one instance and keeps it; two work as well, and share
// nothing. All that is made from an instance keeps it alive.
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

// As many workers as there are CPUs that this process may use.
#define TAKT_WORKER_COUNT_DEFAULT (-1)

#define TAKT_THREAD_NO_WORKER UINT32_MAX

// Threads that an application supplies: all that an instance would start, that
// is workers, timers, the poller of file descriptors and background planning
// (docs/executor.md has the table). A call that is just ending may hold the
// instance a little longer than the application does, so that a worker is the
// last: then that worker's thread joins the others. So what the hooks use must
// last until every run() has returned.
typedef struct takt_thread_hooks_t {
  void* user_data;
  // Arranges for run(argument) to be called, once, on a thread of its own, and
  // stores what join() shall get in `*out_thread`. `name` is borrowed; `worker`
  // counts from 0, and is TAKT_THREAD_NO_WORKER for a thread that is no worker.
  // Must not call back into the instance. False: there is no such thread. Then
  // the instance has fewer workers, and takt_instance_run_ready() does what the
  // other threads would do.
  bool (*create)(void* user_data, uint32_t worker, const char* name,
                 void (*run)(void* argument), void* argument,
                 void** out_thread);
  // Waits until that run() has returned. Not called for a worker that is the
  // last to hold the instance. NULL: nothing needs waiting for, and all have
  // returned before the instance's last reference is released.
  void (*join)(void* user_data, void* thread);
} takt_thread_hooks_t;

typedef struct takt_instance_options_t {
  size_t struct_size;  // Set by init; how much of this the caller knows.
  // Threads that "local-task" devices run on, besides callers that wait.
  // 0: the callers' threads only. They are started when first needed.
  int32_t worker_count;
  takt_allocator_t allocator;  // All NULL: the system's.
  takt_log_sink_t log_sink;    // All NULL: to stderr.

  // The rest is about the threads; docs/executor.md explains when to use it.
  // The threads run without what the system refuses. The log says so once, and
  // takt_instance_statistics_t and takt_worker_statistics_t say what it was.

  // CPUs to run on, borrowed, such as "0-3,8": a worker each, which stays
  // there. CPUs that there are not are left out, with a warning. worker_count
  // is then how many of them at most. NULL: the kernel places the workers.
  const char* worker_cpus;
  // Says which CPUs are near each other; borrowed. NULL: this machine's, if
  // worker_cpus asks for places, else none.
  takt_topology_t* topology;
  // How long a worker without work looks for some before it sleeps, and sees
  // to what a plan has due meanwhile. Default: 0. More makes the next call
  // start sooner and costs a busy CPU.
  int64_t worker_spin_ns;
  // Default: 0, as large as the stack of the main thread may become (the soft
  // limit RLIMIT_STACK), but at least 1 MiB; 64 MiB if that has no limit.
  // Memory is used as far as the stack is. Below it lies a guard of 1 MiB.
  size_t worker_stack_bytes;
  // SCHED_FIFO, 1 to 99, for work of a priority of 128 or more: a worker is an
  // ordinary thread while it runs less urgent work. Default: 0, not that.
  int32_t worker_fifo_priority;
  takt_thread_hooks_t worker_threads;  // All NULL: the system's threads.

  // The thread that releases the jobs of streams (takt/stream.h): so long
  // before a release it wakes up and spins, since the kernel may wake a sleeper
  // late, by up to 2 ms on a small board. Default: 0, it sleeps to the end.
  int64_t timer_spin_ns;
  int32_t timer_fifo_priority;  // SCHED_FIFO, 1 to 99. Default: 0, not that.

  // The scheduler, which decides which operation runs when (takt/scheduler.h).
  // Borrowed. NULL: none; the executor's lanes alone order the work.
  const struct takt_scheduler_options_t* scheduler;

  // A second thread beside each worker, which sleeps until something waits that
  // has a higher priority than a long workgroup that the worker is in; so it
  // waits for the kernel's switch, not for that workgroup's end. Default: true.
  // Without effect on threads of the application.
  bool worker_backup_threads;

  // Handlers of SIGSEGV and SIGBUS say on stderr which kernel a fault of memory
  // was in, such as one that needs more stack than its thread has, and pass the
  // signal on to the handler that was there before. Signals belong to the
  // process, so this is the application's to ask for. Default: false.
  bool fault_reports;
  // The application has a loop of its own, which calls
  // takt_instance_run_ready(): no timer's thread and no poller's is started.
  // With a worker_count of 0 Takt then has no thread at all. Default: false.
  bool host_loop;
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
//   INVALID_ARGUMENT  struct_size is 0; worker_count below -1 or above 1024;
//                     an allocator with only one of its functions;
//                     worker_cpus that is no list of CPUs, or of none of the
//                     topology; a negative spin; a priority beyond 99; a
//                     scheduler's policy that is none.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_instance_create(
    const takt_instance_options_t* options, takt_instance_t** out_instance);

// Adds a reference.
TAKT_EXPORT void takt_instance_retain(takt_instance_t* instance);

// Releases a reference. Objects of the instance keep it; the release of the
// last of these references destroys the instance and waits for its workers.
TAKT_EXPORT void takt_instance_release(takt_instance_t* instance);

// The number of workers that "local-task" devices have.
TAKT_EXPORT uint32_t
takt_instance_worker_count(const takt_instance_t* instance);

// Runs on the calling thread what is ready: timers that are due (releases of
// streams, timeouts), file descriptors that fences wait for, and what is queued
// for the workers, the most urgent first. For an application with a loop of its
// own (takt_instance_options_t::host_loop, docs/embedding.md); beside workers
// it helps them. Callbacks of what it runs are called on this thread.
//
//   max_ns        for about how long. It ends between two pieces of work: a
//                 workgroup, a program up to its next wait, a callback. 0: one
//                 round of what is due, and no work.
//   out_ran       receives how many pieces ran; 0: nothing was ready. May be
//                 NULL.
//   out_next_ns   receives when (of takt_clock_now_ns()) to call again if
//                 nothing else happens: a time that has passed if work is left,
//                 TAKT_INFINITE_FUTURE if nothing is known of. Work that other
//                 threads submit, and descriptors, come unannounced. May be
//                 NULL.
//
// Errors: INVALID_ARGUMENT  instance is NULL; max_ns is negative.
// Several threads may call it at once. Blocks: never. Allocates: what the work
// does.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_instance_run_ready(takt_instance_t* instance, int64_t max_ns,
                        size_t* out_ran, int64_t* out_next_ns);

// What the instance asked for and did not get, and what nothing sees to. The
// log has a warning for each, once, with what to do about it.
typedef struct takt_instance_statistics_t {
  size_t struct_size;            // Set by the caller.
  uint32_t wanted_worker_count;  // By worker_count and worker_cpus.
  uint32_t worker_count;         // Those that there are; 0 before the first
                                 // device that needs them.
  uint32_t absent_cpu_count;     // CPUs of worker_cpus that there are not.
  // errno of the first refusal, of a worker or the thread that releases jobs;
  // 0: nothing was refused.
  int32_t worker_priority_error;
  int32_t worker_affinity_error;
  int32_t timer_priority_error;
  // Real-time threads may take all CPUs, and the kernel then stops them for a
  // part of each second (sched_rt_runtime_us).
  bool may_be_throttled;
  // Streams that were started where only waiting callers and
  // takt_instance_run_ready() run their jobs.
  uint32_t callers_stream_count;
  // Contexts with an NPU whose modules have no code for it: the CPU does all.
  uint32_t unused_npu_count;
} takt_instance_statistics_t;

// Errors: INVALID_ARGUMENT  a NULL, or struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_instance_query_statistics(
    takt_instance_t* instance, takt_instance_statistics_t* out_statistics);

// Gives the instance's idle memory back to the system, and forgets what it
// keeps for contexts that may come (devices that nothing else holds go with
// it). takt_device_trim() does the same for a device.
TAKT_EXPORT void takt_instance_trim(takt_instance_t* instance);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_INSTANCE_H_
