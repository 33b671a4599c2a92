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

// Threads that an application supplies as workers. A call that is just ending
// may hold the instance a little longer than the application does, so that a
// worker is the last: then that worker's thread joins the others. So what the
// hooks use must last until every run() has returned.
typedef struct takt_thread_hooks_t {
  void* user_data;
  // Arranges for run(argument) to be called, once, on a thread of its own, and
  // stores what join() shall get in `*out_thread`. `name` is borrowed. False:
  // there is no such thread, and the instance goes on with fewer workers.
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

  // The rest is about the workers; docs/executor.md explains when to use it.
  // What the system refuses is told by takt_worker_statistics_t, and the
  // workers run without it.

  // CPUs to run on, borrowed, such as "0-3,8": a worker each, which stays
  // there. worker_count is then how many of them at most. NULL: the kernel
  // places the workers.
  const char* worker_cpus;
  // Says which CPUs are near each other; borrowed. NULL: this machine's, if
  // worker_cpus asks for places, else none.
  takt_topology_t* topology;
  // How long a worker without work looks for some before it sleeps, and sees
  // to what a plan has due meanwhile. Default: 0. More makes the next call
  // start sooner and costs a busy CPU.
  int64_t worker_spin_ns;
  size_t worker_stack_bytes;     // Default: 256 KiB.
  int32_t worker_fifo_priority;  // SCHED_FIFO, 1 to 99. Default: 0, not that.
  takt_thread_hooks_t worker_threads;  // All NULL: the system's threads.

  // The thread that releases the jobs of streams (takt/stream.h): so long
  // before a release it wakes up and spins, since the kernel may wake a sleeper
  // late, by up to 2 ms on a small board. Default: 0, it sleeps to the end.
  int64_t timer_spin_ns;
  int32_t timer_fifo_priority;  // SCHED_FIFO, 1 to 99. Default: 0, not that.

  // Who decides which operation runs when (takt/scheduler.h). Borrowed. NULL:
  // nobody; the executor's lanes alone say what goes first.
  const struct takt_scheduler_options_t* scheduler;

  // A second thread beside each worker, which sleeps until something waits that
  // has a higher priority than a long workgroup that the worker is in; so it
  // waits for the kernel's switch, not for that workgroup's end. Default: true.
  // Without effect on threads of the application.
  bool worker_relief;
} takt_instance_options_t;

static inline void takt_instance_options_init(
    takt_instance_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->worker_count = TAKT_WORKER_COUNT_DEFAULT;
  options->worker_stack_bytes = 256 * 1024;
  options->worker_relief = true;
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

TAKT_EXPORT void takt_instance_retain(takt_instance_t* instance);
// The last reference of all that the instance is kept by waits for the workers.
TAKT_EXPORT void takt_instance_release(takt_instance_t* instance);

// The number of workers that "local-task" devices have.
TAKT_EXPORT uint32_t
takt_instance_worker_count(const takt_instance_t* instance);

// Gives the instance's idle memory back to the system, and forgets what it
// keeps for contexts that may come (devices that nothing else holds go with
// it). takt_device_trim() does the same for a device.
TAKT_EXPORT void takt_instance_trim(takt_instance_t* instance);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_INSTANCE_H_
