// takt/tools/workload.h - workloads: the functions of modules that streams call
// under deadlines. Plans and bounds of response times are made from workloads.
//
// Part of libtakt-tools. This interface may change with every release.
//
// A workload is JSON text. A profile, also JSON, says which operations its
// functions have and how long they take. docs/planning.md has both forms;
// `takt-plan profile` makes profiles.
//
// Thread-safety: a workload is immutable; every function may run on any thread.
#ifndef TAKT_TOOLS_WORKLOAD_H_
#define TAKT_TOOLS_WORKLOAD_H_

#include <string.h>

#include "takt/plan.h"
#include "takt/tools/plan_problem.h"
#include "takt/topology.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_workload_t takt_workload_t;

typedef struct takt_workload_options_t {
  size_t struct_size;  // Set by init.
  // The profile's text, borrowed for the call. Default: NULL and 0, no profile:
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

// Reads a workload. Its text and the profile's may be hostile.
//
//   options       NULL for the defaults.
//   out_workload  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  names the place and what was expected there.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_workload_parse(
    const char* json, size_t byte_length,
    const takt_workload_options_t* options, takt_workload_t** out_workload);

// Adds a reference.
TAKT_EXPORT void takt_workload_retain(takt_workload_t* workload);

// Releases a reference; the last one frees the workload and its texts.
TAKT_EXPORT void takt_workload_release(takt_workload_t* workload);

typedef struct takt_workload_info_t {
  const char* name;  // Text is borrowed from the workload.
  const char* topology_hash;
  const char* profile_hash;  // "" without a profile.
  size_t module_count;
  size_t function_count;
  size_t stream_count;
} takt_workload_info_t;

// Returns the workload's totals.
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

// Returns module `index`; zeros beyond the end.
TAKT_EXPORT takt_workload_module_t
takt_workload_module(const takt_workload_t* workload, size_t index);

// Returns the path of parameter file `index` of a module; NULL beyond the end.
TAKT_EXPORT const char* takt_workload_module_parameters(
    const takt_workload_t* workload, size_t module, size_t index);

// Returns function `index`; zeros beyond the end.
TAKT_EXPORT takt_workload_function_t
takt_workload_function(const takt_workload_t* workload, size_t index);

// Returns input `index` of a function as text in the form of takt-run-module's
// --input; NULL beyond the end.
TAKT_EXPORT const char* takt_workload_function_input(
    const takt_workload_t* workload, size_t function, size_t index);

// Returns stream `index`; zeros beyond the end.
TAKT_EXPORT takt_workload_stream_t
takt_workload_stream(const takt_workload_t* workload, size_t index);

// What planning cost, and how good the plan is.
typedef struct takt_workload_plan_report_t {
  takt_plan_solve_report_t solve;
  size_t late_count;    // Jobs that end after their deadline.
  int64_t lateness_ns;  // Of the latest job; 0 if none is late.
  double energy_uj;     // By the workload's table of powers.
  int64_t response_ns;  // Sum of the times from release to end of all jobs.
} takt_workload_plan_report_t;

// Makes a plan for all jobs of one hyperperiod (the least common multiple of
// the periods), or for the jobs of a single shot. The planned duration of an
// operation is the quantile of its profile that the workload's
// "planned_quantile" names.
//
//   options     NULL for the defaults. The makespan that takt_plan_progress_t
//               receives is that of the whole hyperperiod.
//   out_plan    receives one reference; NULL on error.
//   out_report  may be NULL.
//
// Errors: FAILED_PRECONDITION  a function without a profile.
//         INVALID_ARGUMENT     names the stream whose releases are not known
//                              in advance, the operation that no resource
//                              can run, or the operation of start_plan that
//                              the workload does not have.
// Blocks: for the time limit.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_workload_plan(
    const takt_workload_t* workload, const takt_plan_solve_options_t* options,
    takt_plan_t** out_plan, takt_workload_plan_report_t* out_report);

// The longest response time of a stream's jobs under the online scheduler,
// computed from the profile's 99 % quantiles. docs/planning.md has the method.
typedef struct takt_response_bound_t {
  const char* stream;   // Borrowed for the call.
  int64_t deadline_ns;  // TAKT_INFINITE_FUTURE: none.
  int64_t bound_ns;     // TAKT_INFINITE_FUTURE: there is no bound.
  int64_t least_ns;     // Of a job that runs alone, at its fastest.
  int64_t blocking_ns;  // By less urgent work, at each start of an operation.
  const char* reason;   // Why there is no bound; "" if there is one.
} takt_response_bound_t;

// Called for one stream; must not keep the pointer.
typedef void (*takt_response_bound_visitor_t)(
    void* user_data, const takt_response_bound_t* bound);

// Computes the bound of each stream and calls `visitor` with it, on the calling
// thread, before the function returns.
//
// Errors: as takt_workload_plan().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_workload_analyse(const takt_workload_t* workload,
                      takt_response_bound_visitor_t visitor, void* user_data);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_WORKLOAD_H_
