// takt/tools/plan_contents.h - what is inside a plan, and plans from elsewhere.
//
// Part of libtakt-tools. This interface may change with every release.
//
// Times are nanoseconds from the plan's start.
//
// Thread-safety: contents are immutable; every function may run on any thread.
#ifndef TAKT_TOOLS_PLAN_CONTENTS_H_
#define TAKT_TOOLS_PLAN_CONTENTS_H_

#include "takt/module.h"
#include "takt/plan.h"
#include "takt/tools/plan_problem.h"

#if defined(__cplusplus)
extern "C" {
#endif

// ---- Plans from elsewhere, and to elsewhere.

// Writes the plan to a file that takt_plan_load_file() reads: all of it, or on
// an error nothing. An existing file is replaced.
//
// Errors: PERMISSION_DENIED, NOT_FOUND  the file cannot be written.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_save_file(const takt_plan_t* plan, const char* path);

// Makes the plan of a solved problem. It has one module, one core for each
// machine ("machine 0", ...) and one job for each set of operations that
// precedences connect; one unit of time becomes one nanosecond.
//
//   lower_bound  of the makespan, as the solver reported it; 0: none.
//   out_plan     receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  the schedule does not fit the problem: see
//                           takt_plan_check().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_create_from_schedule(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule,
    int64_t lower_bound, takt_plan_t** out_plan);

// Reads a schedule in the JSON form of XPU-RT and merlin, two other runners of
// scheduled dispatches. docs/planning.md describes the form.
//
//   json      `byte_length` bytes, borrowed; may be hostile.
//   out_plan  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  names the entry and the member at fault.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_import_schedule(
    const char* json, size_t byte_length, takt_plan_t** out_plan);

// Writes the plan in the JSON form that takt_plan_import_schedule() reads.
//
//   out_text  for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_export_schedule(const takt_plan_t* plan, char** out_text);

// Makes a copy of the plan that runs only with `module` as its module `index`:
// the copy has the module's content hash. For plans without hashes, such as
// imported ones. Reads the whole file of the module.
//
//   out_plan  receives one reference; NULL on error.
//
// Errors: OUT_OF_RANGE         the plan has no such module.
//         FAILED_PRECONDITION  the plan's module has another content hash, or
//                              `module` is a native one.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_bind_module(const takt_plan_t* plan, size_t index,
                      const takt_module_t* module, takt_plan_t** out_plan);

// ---- Checking a plan.

// Checks whether the plan can be carried out: precedences, one operation on a
// resource at a time (also across the end of a period), releases, deadlines,
// allowed resources, widths, durations. The check shares no code with the
// solver.
//
//   out_count  receives the number of faults.
//   out_text   receives a line for each fault, such as `overlap: "b" is on core
//              1 from 5 ns, where "a" is until 10`; "" if there is none. For
//              takt_string_free().
//
// Errors: RESOURCE_EXHAUSTED  no memory. A fault of the plan is no error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_find_faults(
    const takt_plan_t* plan, size_t* out_count, char** out_text);

// ---- Looking into a plan.

typedef struct takt_plan_contents_t takt_plan_contents_t;

// Reads what is inside a plan.
//
//   out_contents  receives one reference; NULL on error.
//
// Errors: RESOURCE_EXHAUSTED  no memory.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_contents_create(
    const takt_plan_t* plan, takt_plan_contents_t** out_contents);

// Adds a reference.
TAKT_EXPORT void takt_plan_contents_retain(takt_plan_contents_t* contents);

// Releases a reference; the last one frees the contents and their texts.
TAKT_EXPORT void takt_plan_contents_release(takt_plan_contents_t* contents);

typedef struct takt_plan_info_t {
  const char* name;   // Text is borrowed from the contents.
  int64_t period_ns;  // 0: the plan runs once.
  int64_t makespan_ns;
  int64_t lower_bound_ns;  // 0: none was proved.
  const char* topology_hash;
  const char* profile_hash;
  size_t module_count;
  size_t resource_count;
  size_t job_count;
  size_t operation_count;
} takt_plan_info_t;

// Returns the plan's totals.
TAKT_EXPORT takt_plan_info_t
takt_plan_contents_info(const takt_plan_contents_t* contents);

typedef struct takt_planned_module_t {
  const char* name;
  const char* content_hash;  // "": the plan is bound to no module.
} takt_planned_module_t;

// Returns module `index`; zeros beyond the end.
TAKT_EXPORT takt_planned_module_t
takt_plan_contents_module(const takt_plan_contents_t* contents, size_t index);

typedef struct takt_planned_resource_t {
  const char* name;
  bool is_npu;
  uint32_t cluster;
} takt_planned_resource_t;

// Returns resource `index`; zeros beyond the end.
TAKT_EXPORT takt_planned_resource_t
takt_plan_contents_resource(const takt_plan_contents_t* contents, size_t index);

typedef struct takt_planned_job_t {
  const char* name;
  int64_t release_ns;
  int64_t deadline_ns;  // TAKT_INFINITE_FUTURE: none.
  // The job's stream, and its position among the stream's jobs of a period; ""
  // in a plan that was not made from a workload.
  const char* stream;
  uint32_t instance;
} takt_planned_job_t;

// Returns job `index`; zeros beyond the end.
TAKT_EXPORT takt_planned_job_t
takt_plan_contents_job(const takt_plan_contents_t* contents, size_t index);

typedef struct takt_planned_operation_t {
  const char* name;
  const char* kernel;
  size_t job;
  size_t module;
  uint32_t ordinal;  // The position of the dispatch in its job.
  int64_t start_ns;
  int64_t duration_ns;
  size_t resource_count;
  const uint32_t* resources;  // Ascending.
  size_t predecessor_count;
  const uint32_t* predecessors;  // Operations that end before it starts.
} takt_planned_operation_t;

// Returns operation `index`; zeros beyond the end.
TAKT_EXPORT takt_planned_operation_t takt_plan_contents_operation(
    const takt_plan_contents_t* contents, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_PLAN_CONTENTS_H_
