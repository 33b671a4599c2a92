// takt/workload.h - what a machine is to do: functions of modules, called by
// streams under deadlines; from it plans are made, and bounds on responses.
//
// A workload is JSON, and so is the profile that says what its functions do and
// how long that takes: docs/planning.md has both forms. `takt-plan profile`
// makes profiles.
//
// Thread-safety: a workload is immutable.
#ifndef TAKT_WORKLOAD_H_
#define TAKT_WORKLOAD_H_

#include <string.h>

#include "takt/plan_file.h"
#include "takt/topology.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_workload_t takt_workload_t;

typedef struct takt_workload_options_t {
  size_t struct_size;  // Set by init.
  // The profile's text, borrowed for the call. Default: NULL and 0, none:
  // functions have no operations then.
  const char* profile;
  size_t profile_length;
  // The machine; borrowed for the call. Default: NULL, the workload's own
  // "topology", or the profile's.
  const takt_topology_t* topology;
} takt_workload_options_t;

static inline void takt_workload_options_init(
    takt_workload_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Reads a workload. Both texts may be hostile.
//
//   options  NULL for the defaults.
//
// Errors: INVALID_ARGUMENT  names the place and what was expected there.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_workload_parse(
    const char* json, size_t byte_length,
    const takt_workload_options_t* options, takt_workload_t** out_workload);

TAKT_EXPORT void takt_workload_retain(takt_workload_t* workload);
TAKT_EXPORT void takt_workload_release(takt_workload_t* workload);

typedef struct takt_workload_info_t {
  const char* name;  // Text is borrowed from the workload.
  const char* topology_hash;
  const char* profile_hash;  // "" without a profile.
  size_t module_count;
  size_t function_count;
  size_t stream_count;
} takt_workload_info_t;

TAKT_EXPORT takt_workload_info_t
takt_workload_info(const takt_workload_t* workload);

typedef struct takt_workload_module_t {
  const char* name;
  const char* file;          // As written.
  const char* content_hash;  // Of the profile, 16 digits; "" without one.
  size_t parameters_count;   // See takt_workload_module_parameters().
} takt_workload_module_t;

typedef struct takt_workload_function_t {
  const char* name;  // "module.function".
  size_t module;
  size_t input_count;  // See takt_workload_function_input().
} takt_workload_function_t;

typedef struct takt_workload_stream_t {
  const char* name;
  size_t function;  // SIZE_MAX: a program that is written out.
} takt_workload_stream_t;

// Zeroed (and NULL) beyond the ends.
TAKT_EXPORT takt_workload_module_t
takt_workload_module(const takt_workload_t* workload, size_t index);
TAKT_EXPORT const char* takt_workload_module_parameters(
    const takt_workload_t* workload, size_t module, size_t index);
TAKT_EXPORT takt_workload_function_t
takt_workload_function(const takt_workload_t* workload, size_t index);
// In the form of takt-run-module's --input.
TAKT_EXPORT const char* takt_workload_function_input(
    const takt_workload_t* workload, size_t function, size_t index);
TAKT_EXPORT takt_workload_stream_t
takt_workload_stream(const takt_workload_t* workload, size_t index);

// What planning took, and what the plan is worth.
typedef struct takt_workload_plan_report_t {
  takt_plan_solve_report_t solve;
  size_t late_count;    // Jobs that end after their deadline.
  int64_t lateness_ns;  // The greatest; 0 without.
  double energy_uj;     // By the workload's table of powers.
  int64_t response_ns;  // From release to end, of all jobs together.
} takt_workload_plan_report_t;

// Makes a plan: of all jobs in one hyperperiod (the least common multiple of
// the periods), or of those of a single shot. Each operation is given as long
// as the workload's "planned_quantile" of its profile.
//
//   options     NULL for the defaults; takt_plan_progress_t gets the horizon's
//               makespan.
//   out_report  may be NULL.
//
// Errors: FAILED_PRECONDITION  a function without a profile.
//         INVALID_ARGUMENT     names the stream whose releases are not known
//                              ahead, or whose operations can run nowhere.
// Blocks: for the time limit.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_workload_plan(
    const takt_workload_t* workload, const takt_plan_solve_options_t* options,
    takt_plan_t** out_plan, takt_workload_plan_report_t* out_report);

// How long a job of a stream takes at the most under the online scheduler,
// from the profile's 99 % quantiles; docs/planning.md has the method.
typedef struct takt_response_bound_t {
  const char* stream;   // Borrowed for the call.
  int64_t deadline_ns;  // TAKT_INFINITE_FUTURE: none.
  int64_t bound_ns;     // TAKT_INFINITE_FUTURE: there is none.
  int64_t least_ns;     // Alone, at the fastest.
  int64_t blocking_ns;  // By something less urgent, at each start.
  const char* reason;   // Why there is none; "" if there is one.
} takt_response_bound_t;

typedef void (*takt_response_bound_visitor_t)(
    void* user_data, const takt_response_bound_t* bound);

// Calls `visitor` for each stream, on this thread, before it returns.
//
// Errors: as takt_workload_plan().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_workload_analyse(const takt_workload_t* workload,
                      takt_response_bound_visitor_t visitor, void* user_data);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_WORKLOAD_H_
