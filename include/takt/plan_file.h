// takt/plan_file.h - plans: when, and on what, every operation of some jobs
// runs. Made by `takt-plan`, read from files, checked, and looked into here.
//
// Times are nanoseconds from the plan's start.
//
// Thread-safety: a plan is immutable.
#ifndef TAKT_PLAN_FILE_H_
#define TAKT_PLAN_FILE_H_

#include "takt/module.h"
#include "takt/plan.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_plan_t takt_plan_t;

// Reads a plan file. The file may be hostile.
//
// Errors: NOT_FOUND         there is no such file.
//         INVALID_ARGUMENT  names the file: no plan, cut off, damaged, of
//                           another version (found and read are named), or an
//                           index, name or time in it that cannot be.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_load_file(const char* path, takt_plan_t** out_plan);
// The same of bytes in memory; they are copied. Errors name the plan `name`,
// which may be NULL.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_load(const char* name,
                                                        const void* data,
                                                        size_t byte_length,
                                                        takt_plan_t** out_plan);
// Writes the plan to a file: all of it, or on an error nothing; a file that is
// there is replaced.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_save_file(const takt_plan_t* plan, const char* path);

// The plan of a solved problem: a module, a job for each chain of precedences
// that hangs together, a core for each machine ("machine 0", ...), and one unit
// of time to a nanosecond.
//
// Errors: INVALID_ARGUMENT  the schedule is none of the problem's: see
//                           takt_plan_check().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_create_from_schedule(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule,
    int64_t lower_bound, takt_plan_t** out_plan);

// Reads a schedule in the JSON form of other runners of scheduled dispatches
// (XPU-RT, merlin); see docs/planning.md.
//
// Errors: INVALID_ARGUMENT  names the entry and the member at fault.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_import_schedule(
    const char* json, size_t byte_length, takt_plan_t** out_plan);

// A copy of the plan in which its module `index` is `module`, by content: it
// runs with no other. For plans that came without, as imported ones do. Reads
// all of the module's file.
//
// Errors: OUT_OF_RANGE         the plan has no such module.
//         FAILED_PRECONDITION  it is bound to another content, or the module
//                              is a native one.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_bind_module(
    const takt_plan_t* plan, size_t index, const takt_module_t* module,
    takt_plan_t** out_plan);

// The plan in that form; for takt_string_free().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_export_schedule(const takt_plan_t* plan, char** out_text);

TAKT_EXPORT void takt_plan_retain(takt_plan_t* plan);
TAKT_EXPORT void takt_plan_release(takt_plan_t* plan);

// Whether the plan can be carried out: precedences, one operation on a resource
// at a time (also across a period's end), releases, deadlines, allowed
// resources, widths that exist, durations. Shares nothing with the solver.
//
//   out_text  receives a line for each fault, such as `overlap: "b" is on core
//             1 from 5 ns, where "a" is until 10`; "" if there is none. For
//             takt_string_free().
//
// Errors: RESOURCE_EXHAUSTED  no memory. Faults of the schedule are no error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_find_faults(
    const takt_plan_t* plan, size_t* out_count, char** out_text);

typedef struct takt_plan_info_t {
  const char* name;   // Text is borrowed from the plan.
  int64_t period_ns;  // 0: it runs once.
  int64_t makespan_ns;
  int64_t lower_bound_ns;  // 0: none was proved.
  const char* topology_hash;
  const char* profile_hash;
  size_t module_count;
  size_t resource_count;
  size_t job_count;
  size_t operation_count;
} takt_plan_info_t;

TAKT_EXPORT takt_plan_info_t takt_plan_info(const takt_plan_t* plan);

typedef struct takt_planned_module_t {
  const char* name;
  const char* content_hash;  // "": the plan is bound to no module.
} takt_planned_module_t;

typedef struct takt_planned_resource_t {
  const char* name;
  bool is_npu;
  uint32_t cluster;
} takt_planned_resource_t;

typedef struct takt_planned_job_t {
  const char* name;
  int64_t release_ns;
  int64_t deadline_ns;  // TAKT_INFINITE_FUTURE: none.
  // The stream that it is of, and its place among the stream's jobs of a
  // period; "" in plans of no workload.
  const char* stream;
  uint32_t instance;
} takt_planned_job_t;

typedef struct takt_planned_operation_t {
  const char* name;
  const char* kernel;
  size_t job;
  size_t module;
  uint32_t ordinal;  // Which dispatch of its job.
  int64_t start_ns;
  int64_t duration_ns;
  size_t resource_count;
  const uint32_t* resources;  // Ascending.
  size_t predecessor_count;
  const uint32_t* predecessors;  // Operations that end before it starts.
} takt_planned_operation_t;

// Zeroed beyond the ends.
TAKT_EXPORT takt_planned_module_t takt_plan_module(const takt_plan_t* plan,
                                                   size_t index);
TAKT_EXPORT takt_planned_resource_t takt_plan_resource(const takt_plan_t* plan,
                                                       size_t index);
TAKT_EXPORT takt_planned_job_t takt_plan_job(const takt_plan_t* plan,
                                             size_t index);
TAKT_EXPORT takt_planned_operation_t
takt_plan_operation(const takt_plan_t* plan, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_PLAN_FILE_H_
