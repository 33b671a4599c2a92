// takt/device.h - devices: they run dispatches and hold buffers.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_DEVICE_H_
#define TAKT_DEVICE_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_device_t takt_device_t;

// A dispatch that has ended. The event is borrowed for the call of the
// observer. Times are on takt_clock_now_ns().
typedef struct takt_dispatch_event_t {
  const char* function;  // As in takt_dispatch_cost_t.
  uint32_t workgroup_count[3];
  int64_t begin_ns;  // The start of its first workgroup.
  int64_t end_ns;    // The end of its last workgroup.
  // Dispatches of one run with the same group have no barrier between them.
  uint64_t group;
} takt_dispatch_event_t;

// Called on the thread that ended the dispatch, before work that waits for it
// starts. Several threads may call it at the same time. Must not block.
typedef void (*takt_dispatch_observer_t)(void* user_data,
                                         const takt_dispatch_event_t* event);

// The memory and the execution of a device.
typedef struct takt_device_options_t {
  size_t struct_size;  // Set by init.
  // The largest amount of memory for buffers of the device, used and idle
  // together. Queue-ordered allocations that do not fit wait, in the order in
  // which their wait fences were reached; those of one invocation are served
  // together. Other allocations (takt_buffer_allocate()) fail. Host memory that
  // is wrapped or imported does not count. Default: UINT64_MAX, no limit.
  uint64_t memory_budget_bytes;
  // With a budget: the first waiting allocation fails with RESOURCE_EXHAUSTED
  // if for this time no work of the device runs and no memory was freed. The
  // message names the owners of the memory. Default: 10 s.
  // TAKT_INFINITE_FUTURE: allocations wait without limit.
  int64_t stall_ns;
  // The largest amount of unused memory that is kept for later allocations; the
  // rest is returned to the system at once. Default: UINT64_MAX, no limit.
  uint64_t idle_bytes_max;
  // The least time for which unused memory is kept; it is returned to the
  // system after twice this time at the latest. Default: TAKT_INFINITE_FUTURE,
  // never.
  int64_t idle_ns;
  // The queues of a "local-task" device, 64 at most: for each queue the CPUs,
  // such as "0-3,8", whose workers do its work if the call does not name any.
  // Compiled code names queues by the bits of an affinity; work that names
  // several queues may run on the CPUs of all of them. Borrowed. Default: 0 and
  // NULL, one queue on all CPUs.
  size_t queue_count;
  const char* const* queue_cpus;
  // Whether a "local-task" device measures dispatches and uses the results
  // (takt_device_visit_dispatch_costs()). If not, no dispatch runs at once on
  // the thread that submits it, and each is spread as if its cost were unknown.
  // Default: true.
  bool learn_costs;
  // The executor whose workers a "local-task" device uses; borrowed. Default:
  // NULL, the executor of the instance.
  takt_executor_t* executor;
  // For measurements: called for every dispatch. It costs two more readings of
  // the clock for each dispatch. Default: NULL.
  takt_dispatch_observer_t on_dispatch;
  void* on_dispatch_user_data;
  // Whether the device accepts executables that are shared objects of the
  // system (--iree-llvmcpu-link-embedded=false; formats such as
  // "system-elf-x86_64"). The system's dynamic linker loads them, and they have
  // all rights of the process from that moment. Allow this only for files that
  // you trust as much as your own program. Default: false, such executables are
  // refused.
  bool allow_system_libraries;
} takt_device_options_t;

static inline void takt_device_options_init(takt_device_options_t* options) {
  options->struct_size = sizeof(*options);
  options->memory_budget_bytes = UINT64_MAX;
  options->stall_ns = 10 * (int64_t)1000000000;
  options->idle_bytes_max = UINT64_MAX;
  options->idle_ns = TAKT_INFINITE_FUTURE;
  options->queue_count = 0;
  options->queue_cpus = NULL;
  options->learn_costs = true;
  options->executor = NULL;
  options->on_dispatch = NULL;
  options->on_dispatch_user_data = NULL;
  options->allow_system_libraries = false;
}

// Creates a device of `instance`. Each call makes another device; contexts that
// use the same device share its loaded executables.
//
//   name        "local-sync": work runs to its end on the thread that submits
//                 it, or on the thread that reaches its wait fence.
//               "local-task": work is spread over the workers of an executor
//                 and over the threads of callers that wait.
//   options     NULL for the defaults.
//   out_device  receives one reference; NULL on error.
//
// Errors:
//   NOT_FOUND           no such name; the message lists the names.
//   INVALID_ARGUMENT    a memory_budget_bytes of 0, a stall_ns or idle_ns of 0
//                       or less; a queue on CPUs that do not exist, or without
//                       workers; an executor of another instance, or for
//                       "local-sync".
//   RESOURCE_EXHAUSTED  no worker thread could be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_device_create(
    takt_instance_t* instance, const char* name,
    const takt_device_options_t* options, takt_device_t** out_device);

// Adds a reference.
TAKT_EXPORT void takt_device_retain(takt_device_t* device);

// Releases a reference; the last one destroys the device.
TAKT_EXPORT void takt_device_release(takt_device_t* device);

// Returns the name under which the device was created, borrowed.
TAKT_EXPORT const char* takt_device_name(const takt_device_t* device);

// Answers a query of compiled code, such as ("hal.executable.format",
// "embedded-elf-x86_64") or ("hal.cpu", "data0"). Returns false, and 0 in
// *out_value, if the device does not know the pair.
TAKT_EXPORT bool takt_device_query_i64(const takt_device_t* device,
                                       const char* category, const char* key,
                                       int64_t* out_value);

// Returns idle memory of the device, and of the heap, to the system.
TAKT_EXPORT void takt_device_trim(takt_device_t* device);

// Describes, in one line, why allocations of the device wait for memory: their
// number, the bytes that they need, the owners of the other memory, and whether
// running work will free some of it. Empty if no allocation waits.
//
//   out_text  for takt_string_free().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_device_explain_memory(const takt_device_t* device, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_DEVICE_H_
