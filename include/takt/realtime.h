// takt/realtime.h - memory and threads of a program with real-time threads.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_REALTIME_H_
#define TAKT_REALTIME_H_

#include <string.h>

#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

// What takt_realtime_prepare() does. takt_realtime_options_init() fills it in.
typedef struct takt_realtime_options_t {
  size_t struct_size;  // Set by init; how much of this the caller knows.
  // Locks the process's memory, what there is and what will be: a page that is
  // there is not taken away. Default: true.
  bool lock_memory;
  // Locks a page when it is first touched, instead of bringing all pages in at
  // once: stacks of other threads then cost what they use. Default: false.
  bool lock_on_fault;
  // Has malloc() keep memory that is freed, and take none by mmap(). It stays
  // so for the process. Default: true.
  bool keep_heap;
  uint64_t stack_bytes;  // Of the calling thread, touched. Default: 256 KiB.
  uint64_t heap_bytes;   // Of malloc(), touched and freed. Default: 0.
} takt_realtime_options_t;

static inline void takt_realtime_options_init(
    takt_realtime_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->lock_memory = true;
  options->keep_heap = true;
  options->stack_bytes = 256 * 1024;
}

// What the system has granted. Set struct_size to sizeof before the call;
// nothing beyond it is written.
typedef struct takt_realtime_result_t {
  size_t struct_size;
  int32_t lock_error;         // errno if the memory was not locked; else 0.
  uint64_t lock_limit_bytes;  // RLIMIT_MEMLOCK; UINT64_MAX: no limit.
  uint64_t locked_bytes;      // Of the process, afterwards.
  uint64_t stack_bytes;       // Touched; less if the stack has no room.
  int32_t heap_error;         // errno if the heap was not touched; else 0.
  uint64_t heap_bytes;        // Touched.
  // The highest priority of SCHED_FIFO that the calling thread may ask for; 0:
  // none.
  int32_t fifo_priority_max;
  // The kernel lets real-time threads run for throttle_run_ns of each
  // throttle_period_ns; -1: for all of it; 0: not known.
  int64_t throttle_run_ns;
  int64_t throttle_period_ns;
} takt_realtime_result_t;

// Prepares the process, once, before its real-time threads start. Memory of
// modules and buffers is takt_context_prepare()'s.
//
//   options     NULL for the defaults.
//   out_result  receives what the system granted.
//
// What the system refuses is in *out_result, and the rest is done all the same.
// Errors:
//   INVALID_ARGUMENT  a stack of more than 64 MiB.
//
// Blocks: while pages are brought in.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_realtime_prepare(
    const takt_realtime_options_t* options, takt_realtime_result_t* out_result);

// What the kernel has counted for a thread. Set struct_size to sizeof before
// the call; nothing beyond it is written.
typedef struct takt_thread_usage_t {
  size_t struct_size;
  uint64_t run_ns;  // On a processor.
  // Ready to run, while something else had the processor. If a job is late and
  // this has grown by as much, the system was late and not the library.
  uint64_t run_queue_ns;
  uint64_t run_count;          // Times that it got a processor.
  uint64_t minor_fault_count;  // Page faults without and with a read of a disk.
  uint64_t major_fault_count;
} takt_thread_usage_t;

// Reads the usage of a thread of this process.
//
//   thread_id  the kernel's number, such as that in takt_worker_statistics_t;
//              0: the calling thread.
//
// Returns false, and writes zeros, if there is no such thread or the kernel
// counts nothing (CONFIG_SCHED_INFO).
TAKT_EXPORT bool takt_thread_query_usage(uint64_t thread_id,
                                         takt_thread_usage_t* out_usage);

// Between these two calls the thread is in a real-time section. In a build with
// the CMake option TAKT_REALTIME_CHECKS, the process then aborts with a
// backtrace if the thread takes or frees memory of malloc(), waits for a lock,
// or has had a page fault by the end of the section. With the environment
// variable TAKT_REALTIME_CHECKS=report it prints that, and goes on. In other
// builds the calls are two stores.
//
//   name  of the section, for messages; kept until the end of the section.
//
// Sections nest; the innermost is named.
TAKT_EXPORT void takt_realtime_begin(const char* name);
TAKT_EXPORT void takt_realtime_end(void);

// How often a section has done such a thing so far, in the process; 0 in builds
// without checks.
TAKT_EXPORT uint64_t takt_realtime_violation_count(void);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_REALTIME_H_
