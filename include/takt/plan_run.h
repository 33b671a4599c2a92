// takt/plan_run.h - runs of plans on this machine.
//
// A run makes the scheduler follow a plan: jobs are released at the planned
// times, counted from a start time, and their operations run on the planned
// resources at the planned times. Work that is not planned runs in the gaps.
//
//   const takt_plan_binding_t bindings[] = {
//       {.stream = "policy", .to = policy_stream},
//       {.stream = "project", .functions = &project, .function_count = 1,
//        .arguments = &image, .argument_count = 1}};
//   check(takt_plan_run_create(instance, plan, 2, bindings, NULL, &run));
//   check(takt_plan_run_start(run, takt_clock_now_ns() + 10000000));
//   check(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));  // Of a single shot.
//
// A run needs a scheduler with the policy "job-shop" (takt/scheduler.h).
// Operations run on exactly the planned cores if workers have fixed CPUs
// (worker_cpus). Starts are exact to microseconds if threads spin before them
// (timer_spin_ns, worker_spin_ns of takt/instance.h). docs/planning.md explains
// the modes.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_PLAN_RUN_H_
#define TAKT_PLAN_RUN_H_

#include <string.h>

#include "takt/instance.h"
#include "takt/plan.h"
#include "takt/stream.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_plan_run_t takt_plan_run_t;

typedef enum takt_plan_mode_t {
  // Each operation on its resources, not before its start, in the planned
  // order of each resource.
  TAKT_PLAN_MODE_STRICT = 0,
  // Places and order are preferences: an operation may start early, and later
  // operations move when one is late.
  TAKT_PLAN_MODE_ADAPTIVE = 1,
} takt_plan_mode_t;

// What a strict run does after a violation of the plan.
typedef enum takt_plan_late_t {
  // The violation is counted and reported; the order stays.
  TAKT_PLAN_LATE_REPORT = 0,
  // The online policy also takes the rest of the job.
  TAKT_PLAN_LATE_FALL_BACK = 1,
  // The run ends with an error; the online policy takes the rest.
  TAKT_PLAN_LATE_FAIL = 2,
} takt_plan_late_t;

typedef enum takt_plan_event_kind_t {
  TAKT_PLAN_EVENT_LATE = 0,       // The operation started late.
  TAKT_PLAN_EVENT_OVERRUN = 1,    // It took longer than planned.
  TAKT_PLAN_EVENT_MISSING = 2,    // It did not become ready in time.
  TAKT_PLAN_EVENT_UNPLANNED = 3,  // Its job has no such operation in the plan.
  TAKT_PLAN_EVENT_LOST = 4,       // One of its resources is lost.
  TAKT_PLAN_EVENT_DIVERGED = 5,   // Adaptive: it is so late that the plan is
                                  // repaired or abandoned.
} takt_plan_event_kind_t;

// A difference between the plan and its execution.
typedef struct takt_plan_event_t {
  takt_plan_event_kind_t kind;
  size_t operation;  // Its index in the plan; the number of operations: none.
  uint64_t cycle;    // The repetition of the plan.
  int64_t by_ns;     // How much later, or longer, than planned.
} takt_plan_event_t;

// Called once for each event, in order, on a thread of the instance; must not
// block.
typedef void (*takt_plan_event_callback_t)(void* user_data,
                                           const takt_plan_event_t* event);

// The end of a planned job.
typedef struct takt_plan_job_end_t {
  size_t job;  // Its index in the plan.
  uint64_t cycle;
  int64_t release_ns;  // On takt_clock_now_ns().
  int64_t end_ns;
} takt_plan_job_end_t;

// Called at the end of each call that the run has made, on the thread that
// ended it; must not block.
//
//   status   NULL, or the error, which the callback owns.
//   results  borrowed; none on an error.
typedef void (*takt_plan_done_callback_t)(void* user_data,
                                          const takt_plan_job_end_t* job,
                                          takt_status_t status,
                                          size_t result_count,
                                          const takt_value_t* results);

// Binds a stream of the plan to a stream of the application, or to functions
// that the run calls at the planned releases. All pointers are borrowed for the
// call; the run retains the objects that it needs.
typedef struct takt_plan_binding_t {
  const char* stream;  // Its name in the plan.

  // A stream that is not running; the run starts and stops it. Only for cyclic
  // plans: PERIODIC with the plan's period, or AFTER another stream.
  takt_stream_t* to;

  // Or, if `to` is NULL: job i of a repetition calls functions[i % count].
  // Calls of one context run one after the other, calls of several contexts at
  // the same time.
  takt_function_t* const* functions;
  size_t function_count;
  size_t argument_count;
  // The arguments of every call; must not be written during the run.
  const takt_value_t* arguments;
  takt_criticality_t criticality;
  takt_plan_done_callback_t on_done;  // May be NULL.
  void* user_data;
} takt_plan_binding_t;

// How closely a run follows its plan in time. All members are durations in
// nanoseconds. takt_plan_timing() fills them from a preset; a caller may then
// override single members.
typedef struct takt_plan_timing_t {
  // A start or a duration that differs from the plan by no more than this is
  // no event.
  int64_t tolerance_ns;
  // Strict: how long the run waits, after the planned end of an operation, for
  // an operation that has not become ready.
  int64_t patience_ns;
  // Adaptive: an operation that is later than this makes the run repair the
  // plan.
  int64_t divergence_ns;
  // The run makes a call this long before its release, so that the call's
  // operations are known when they are due. No operation starts before the
  // release.
  int64_t lead_ns;
  // Adaptive: the time that planning the rest anew may take, on a thread of
  // the run, when the plan cannot be moved or a core is lost. Until the new
  // plan is there, and if jobs would be late by it, the online policy decides.
  // 0: the online policy decides at once.
  int64_t repair_budget_ns;
  // Adaptive: only jobs that are released within this time are planned anew.
  // 0: all jobs up to the end of the period.
  int64_t repair_horizon_ns;
  // Adaptive: an operation that the plan has on cores for no longer than this
  // is not held to the plan. Once it is known to take no more than 25 us, it
  // runs as soon as it can on the thread that made it ready, which costs less
  // than a decision. 0: the whole plan is followed.
  int64_t small_ns;
} takt_plan_timing_t;

typedef enum takt_plan_timing_preset_t {
  // For workers that sleep between operations, on a machine that the plan does
  // not have to itself: waking a thread takes up to 100 us there.
  TAKT_PLAN_TIMING_STANDARD = 0,
  // For workers on cores of their own that spin between operations
  // (worker_cpus, worker_spin_ns, timer_spin_ns): starts are exact to some
  // microseconds, so the limits are a tenth of the standard ones and small
  // operations follow the plan as well.
  TAKT_PLAN_TIMING_EXACT = 1,
  // The order of the plan counts and its times do not: the run waits a minute
  // for an operation and repairs nothing. For debugging and for emulated or
  // heavily loaded machines.
  TAKT_PLAN_TIMING_PATIENT = 2,
} takt_plan_timing_preset_t;

// Returns the durations of a preset; those of TAKT_PLAN_TIMING_STANDARD for a
// value that is no preset.
static inline takt_plan_timing_t takt_plan_timing(
    takt_plan_timing_preset_t preset) {
  takt_plan_timing_t timing;
  timing.tolerance_ns = 100000;
  timing.patience_ns = 1000000;
  timing.divergence_ns = 500000;
  timing.lead_ns = 1000000;
  timing.repair_budget_ns = 5000000;
  timing.repair_horizon_ns = 0;
  timing.small_ns = 25000;
  if (preset == TAKT_PLAN_TIMING_EXACT) {
    timing.tolerance_ns = 10000;
    timing.patience_ns = 100000;
    timing.divergence_ns = 50000;
    timing.small_ns = 0;
  } else if (preset == TAKT_PLAN_TIMING_PATIENT) {
    timing.patience_ns = INT64_C(60000000000);
    timing.divergence_ns = INT64_C(60000000000);
    timing.repair_budget_ns = 0;
    timing.small_ns = 0;
  }
  return timing;
}

// takt_plan_run_options_init() fills it in.
typedef struct takt_plan_run_options_t {
  size_t struct_size;                   // Set by init.
  takt_plan_mode_t mode;                // Default: STRICT.
  takt_plan_late_t late;                // Default: REPORT.
  takt_plan_timing_t timing;            // Default: TAKT_PLAN_TIMING_STANDARD.
  takt_plan_event_callback_t on_event;  // Default: NULL.
  void* user_data;
} takt_plan_run_options_t;

static inline void takt_plan_run_options_init(
    takt_plan_run_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->timing = takt_plan_timing(TAKT_PLAN_TIMING_STANDARD);
}

// Makes a run: binds a plan to streams, functions and resources of this
// machine. The plan's cores and NPUs are found by name ("pool#index", see
// takt_scheduler_query_resources()), or cluster by cluster.
//
//   plan      borrowed; the run retains it.
//   bindings  one for each stream of the plan; further ones are ignored.
//   options   NULL for the defaults.
//   out_run   receives one reference; NULL on error.
//
// Errors: FAILED_PRECONDITION  the instance has no scheduler, or one with
//                              another policy; the plan has faults other than
//                              late jobs (takt_plan_find_faults()); a
//                              function's module has a content hash that is not
//                              in the plan; a function has an operation on an
//                              NPU of which its context has no device.
//         INVALID_ARGUMENT     names the stream that is not bound, bound twice
//                              or bound to an unsuitable stream or function;
//                              the resource that does not exist; the wrong
//                              option.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_run_create(
    takt_instance_t* instance, takt_plan_t* plan, size_t binding_count,
    const takt_plan_binding_t* bindings, const takt_plan_run_options_t* options,
    takt_plan_run_t** out_run);

// Adds a reference.
TAKT_EXPORT void takt_plan_run_retain(takt_plan_run_t* run);

// Releases a reference. A started run needs none: it goes on until it is over,
// a cyclic run until it is stopped.
TAKT_EXPORT void takt_plan_run_release(takt_plan_run_t* run);

// Starts the run: `start_ns`, on takt_clock_now_ns(), is time 0 of the plan. It
// should be in the near future, but later than lead_ns from now, so that the
// first calls can be made in time. A cyclic plan is repeated until the run is
// stopped.
//
// Errors: FAILED_PRECONDITION  the run has been started; another run of the
//                              instance is not over; a stream is running.
//         INVALID_ARGUMENT     start_ns has passed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_start(takt_plan_run_t* run, int64_t start_ns);

// Replaces the plan: from `at_ns` on, jobs are released by the new plan, whose
// time 0 is `at_ns`. Jobs released before follow the old plan to their end. A
// cyclic plan is replaced at the first end of a period at or after `at_ns`. The
// streams of the new plan must be bound. Counts of operations start from 0 with
// the new plan.
//
//   out_at_ns  receives the time of the replacement; may be NULL.
//
// Errors: FAILED_PRECONDITION  the run is not started or is over; another
//                              replacement is pending; and as
//                              takt_plan_run_create().
//         INVALID_ARGUMENT     at_ns has passed; only one of the plans is
//         cyclic;
//                              a bound takt_stream_t would be released at other
//                              times; and as takt_plan_run_create().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_run_replace(
    takt_plan_run_t* run, takt_plan_t* plan, int64_t at_ns, int64_t* out_at_ns);

// Stops the run: it releases no further jobs, and the online policy takes the
// jobs in flight. A run that is over stays as it is. Any callback may call
// this. If a thread is just starting the run or replacing its plan, that thread
// then stops it.
TAKT_EXPORT void takt_plan_run_stop(takt_plan_run_t* run);

// Waits until the run is over: stopped, failed, or, for a plan that is not
// cyclic, all calls done. The calling thread helps the workers meanwhile. Must
// not be called in a callback.
//
// Errors: DEADLINE_EXCEEDED    the run is not over.
//         FAILED_PRECONDITION  it was never started.
//         ABORTED              it failed; the message names the operation and
//                              its violation.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_wait(takt_plan_run_t* run, int64_t deadline_ns);

// Differences from planned times in ns; negative ones are early.
typedef struct takt_plan_errors_t {
  uint64_t count;
  int64_t min;
  int64_t max;
  int64_t q50;  // The quantiles are of the last 128.
  int64_t q99;
} takt_plan_errors_t;

// The differences between the plan and its execution.
typedef struct takt_plan_run_report_t {
  size_t struct_size;  // Set by the caller.
  bool is_running;
  uint64_t started_count;     // Started operations of all plans.
  uint64_t in_place_count;    // Those that ran on their planned resources.
  uint64_t violation_count;   // Strict: violations.
  uint64_t divergence_count;  // Adaptive: divergences.
  uint64_t repair_count;      // Those for which the plan could be moved.
  uint64_t call_count;        // Calls made by the run.
  uint64_t failed_count;      // Those that failed.
  // Actual minus planned time of all operations of the plan; early counts as 0.
  takt_quantiles_t late_start;
  takt_quantiles_t late_end;
  int64_t first_release_ns;  // Of the first job; 0: none yet.
  int64_t last_end_ns;       // Of the last operation that has ended.
  // Adaptive: how often the rest was planned anew, and how often such a plan
  // was not used because it came too late or had late jobs.
  uint64_t resolve_count;
  uint64_t refused_count;
} takt_plan_run_report_t;

// Reads the report of the run, at any time.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_query(takt_plan_run_t* run, takt_plan_run_report_t* out_report);

// Reads the differences of one operation of the plan: its actual minus its
// planned starts and ends.
//
//   out_start, out_end  may be NULL.
//
// Errors: OUT_OF_RANGE  the plan has no such operation.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_run_query_operation(
    takt_plan_run_t* run, size_t operation, takt_plan_errors_t* out_start,
    takt_plan_errors_t* out_end);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_PLAN_RUN_H_
