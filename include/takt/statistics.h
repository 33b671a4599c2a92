// takt/statistics.h - what is in use.
//
// Thread-safety: every function may run on any thread; numbers of one struct
// are not taken at one instant.
#ifndef TAKT_STATISTICS_H_
#define TAKT_STATISTICS_H_

#include "takt/context.h"
#include "takt/device.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Set struct_size to sizeof before the call; what lies beyond it is not
// written.
typedef struct takt_device_statistics_t {
  size_t struct_size;
  uint64_t bytes_reserved;    // Asked for and not yet given back.
  uint64_t bytes_committed;   // Memory held, in use or idle.
  uint64_t bytes_peak;        // The most ever committed.
  uint64_t allocation_count;  // Allocations made so far.
  uint64_t bytes_idle;        // Of the committed, in no use.
  // Of a device with a budget; else 0.
  uint64_t bytes_budget;
  uint64_t bytes_waiting;  // Of allocations that wait for memory now.
  uint64_t waiting_count;  // Such allocations.
  uint64_t wait_count;     // Allocations that have had to wait so far.
} takt_device_statistics_t;

// Reads the statistics of a device.
TAKT_EXPORT void takt_device_query_statistics(
    const takt_device_t* device, takt_device_statistics_t* out_statistics);

// What a "local-task" device has learned of the dispatches of one function and
// grid, by which it decides what runs at once and how many workers the rest is
// worth. Times are moving means of one workgroup.
typedef struct takt_dispatch_cost_t {
  const char* function;  // Borrowed for the call.
  // All 0: of grids that are not known before they run, and of those beyond the
  // first 8 of the function.
  uint32_t workgroup_count[3];
  int64_t alone_ns;      // Where one thread runs all; 0: not measured.
  uint64_t alone_count;  // Samples of it, which are some of the runs.
  int64_t shared_ns;     // Where several threads may share them.
  uint64_t shared_count;
} takt_dispatch_cost_t;

typedef void (*takt_dispatch_cost_visitor_t)(void* user_data,
                                             const takt_dispatch_cost_t* cost);

// Calls `visitor` for each of what the executables of loaded modules have, on
// this thread, before it returns.
TAKT_EXPORT void takt_device_visit_dispatch_costs(
    takt_device_t* device, takt_dispatch_cost_visitor_t visitor,
    void* user_data);

// Set struct_size to sizeof before the call.
typedef struct takt_context_statistics_t {
  size_t struct_size;
  uint64_t memory_bytes;  // That this context has for itself.
  uint64_t global_bytes;  // Of them, its modules' scalar globals.
  uint64_t global_ref_count;
} takt_context_statistics_t;

// Reads the statistics of a context.
TAKT_EXPORT void takt_context_query_statistics(
    const takt_context_t* context, takt_context_statistics_t* out_statistics);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STATISTICS_H_
