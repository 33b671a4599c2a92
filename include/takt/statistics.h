// takt/statistics.h - memory in use, and learned costs of dispatches.
//
// Thread-safety: every function may run on any thread. The numbers of one
// struct are read one after the other, so they may not belong to the same
// instant.
#ifndef TAKT_STATISTICS_H_
#define TAKT_STATISTICS_H_

#include "takt/context.h"
#include "takt/device.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Set struct_size to sizeof before the call; nothing beyond it is written.
typedef struct takt_device_statistics_t {
  size_t struct_size;
  uint64_t bytes_reserved;    // Allocated and not yet freed.
  uint64_t bytes_committed;   // Memory held, in use or idle.
  uint64_t bytes_peak;        // The largest bytes_committed so far.
  uint64_t allocation_count;  // Allocations made so far.
  uint64_t bytes_idle;        // The idle part of bytes_committed.
  // For a device with a budget; else 0.
  uint64_t bytes_budget;
  uint64_t bytes_waiting;  // Needed by the waiting allocations.
  uint64_t waiting_count;  // Allocations that wait for memory now.
  uint64_t wait_count;     // Allocations that had to wait so far.
} takt_device_statistics_t;

// Reads the statistics of a device.
TAKT_EXPORT void takt_device_query_statistics(
    const takt_device_t* device, takt_device_statistics_t* out_statistics);

// The measured cost of the dispatches of one function and grid on a
// "local-task" device. By this cost the device decides whether a dispatch runs
// at once, and otherwise how many workers it gets. Times are moving means for
// one workgroup.
typedef struct takt_dispatch_cost_t {
  const char* function;  // Borrowed for the call.
  // All 0: one entry for all grids that are known only when the dispatch runs,
  // and of those beyond the first 8 grids of the function.
  uint32_t workgroup_count[3];
  int64_t alone_ns;      // When one thread runs all; 0: not measured.
  uint64_t alone_count;  // Samples; not every run is measured.
  int64_t shared_ns;     // When several threads may run them.
  uint64_t shared_count;
} takt_dispatch_cost_t;

typedef void (*takt_dispatch_cost_visitor_t)(void* user_data,
                                             const takt_dispatch_cost_t* cost);

// Calls `visitor` on the calling thread, before this function returns, for each
// measured cost of the executables of loaded modules.
TAKT_EXPORT void takt_device_visit_dispatch_costs(
    takt_device_t* device, takt_dispatch_cost_visitor_t visitor,
    void* user_data);

// Set struct_size to sizeof before the call.
typedef struct takt_context_statistics_t {
  size_t struct_size;
  uint64_t memory_bytes;  // Memory of this context alone.
  uint64_t global_bytes;  // The part for scalar globals.
  uint64_t global_ref_count;
} takt_context_statistics_t;

// Reads the statistics of a context.
TAKT_EXPORT void takt_context_query_statistics(
    const takt_context_t* context, takt_context_statistics_t* out_statistics);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STATISTICS_H_
