// takt/plan_run.h - plans, carried out on this machine.
//
// A run has the scheduler do what a plan says: its jobs are released at the
// planned times from a start time on, and their operations run where and when
// the plan has them. What the plan does not know fills its holes.
//
//   const takt_plan_binding_t bindings[] = {
//       {.stream = "policy", .to = policy_stream},
//       {.stream = "project", .functions = &project, .function_count = 1,
//        .arguments = &image, .argument_count = 1}};
//   check(takt_plan_run_create(instance, plan, 2, bindings, NULL, &run));
//   check(takt_plan_run_start(run, takt_clock_now_ns() + 10000000));
//   check(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));  // Of a single shot.
//
// It needs a scheduler whose policy is "job-shop" (takt/scheduler.h), and cores
// are exact where workers are kept in place (worker_cpus). How exact starts are
// is a matter of timer_spin_ns and worker_spin_ns (takt/instance.h): with both,
// nobody sleeps through one. docs/planning.md explains the modes.
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
  // Places and order are preferences: slack is used up, lateness moves on.
  TAKT_PLAN_MODE_ADAPTIVE = 1,
} takt_plan_mode_t;

// What becomes of a strict plan that was not kept to.
typedef enum takt_plan_late_t {
  TAKT_PLAN_LATE_TELL = 0,  // It is counted and told; the order stays.
  // And what is left of the job is the online policy's.
  TAKT_PLAN_LATE_FALL_BACK = 1,
  // The run ends with an error; all that is left is the online policy's.
  TAKT_PLAN_LATE_FAIL = 2,
} takt_plan_late_t;

typedef enum takt_plan_event_kind_t {
  TAKT_PLAN_EVENT_LATE = 0,       // It started after its time.
  TAKT_PLAN_EVENT_OVERRUN = 1,    // It took longer than it had.
  TAKT_PLAN_EVENT_MISSING = 2,    // It did not come, and is not waited for.
  TAKT_PLAN_EVENT_UNPLANNED = 3,  // Its job has no such operation in the plan.
  TAKT_PLAN_EVENT_LOST = 4,       // A resource of it is lost.
  TAKT_PLAN_EVENT_DIVERGED = 5,   // Adaptive: it is so late that the plan is
                                  // repaired, or gives way.
} takt_plan_event_kind_t;

// Something was not as planned.
typedef struct takt_plan_event_t {
  takt_plan_event_kind_t kind;
  size_t operation;  // Of the plan; the number of operations: none.
  uint64_t cycle;    // Which repetition.
  int64_t by_ns;     // Late or too long by so much.
} takt_plan_event_t;

// Told of each such event, once, in order, on a thread of the instance; must
// not block.
typedef void (*takt_plan_event_callback_t)(void* user_data,
                                           const takt_plan_event_t* event);

// A planned job is done.
typedef struct takt_plan_job_end_t {
  size_t job;  // Of the plan.
  uint64_t cycle;
  int64_t release_ns;  // On takt_clock_now_ns().
  int64_t end_ns;
} takt_plan_job_end_t;

// Told of each call that the run has made, on the thread that brought its end
// about; must not block.
//
//   status   NULL, or the error, which the callback owns.
//   results  borrowed; none on an error.
typedef void (*takt_plan_done_callback_t)(void* user_data,
                                          const takt_plan_job_end_t* job,
                                          takt_status_t status,
                                          size_t result_count,
                                          const takt_value_t* results);

// What a stream of the plan is here: a stream, or functions that the run calls
// at the planned releases. All is borrowed for the call; the run keeps what it
// needs.
typedef struct takt_plan_binding_t {
  const char* stream;  // As the plan has it.

  // A stream that rests: the run starts and stops it. Of a cyclic plan only:
  // PERIODIC with the plan's period, or AFTER another.
  takt_stream_t* to;

  // Or, if `to` is NULL: job i of a repetition calls functions[i % count].
  // Calls of one context run one after the other, those of several at once.
  takt_function_t* const* functions;
  size_t function_count;
  size_t argument_count;
  const takt_value_t* arguments;  // Of every call; not written meanwhile.
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
  takt_plan_late_t late;                // Default: TELL.
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

// Binds a plan to what this machine has. The plan's cores and NPUs are found by
// name ("pool#index", see takt_scheduler_query_resources()), or cluster by
// cluster.
//
//   plan      borrowed; the run keeps it.
//   bindings  one for each stream of the plan; more do no harm.
//   options   NULL for the defaults.
//   out_run   receives one reference; NULL on error.
//
// Errors: FAILED_PRECONDITION  no scheduler, or of another policy; the plan
//                              cannot be carried out (takt_plan_find_faults(),
//                              but for deadlines); a function is of a module
//                              whose content hash is none that the plan was
//                              made for, or has an operation on an NPU of
//                              which its context has no device.
//         INVALID_ARGUMENT     names the stream that is not bound, or bound
//                              twice, or to what it cannot be; the resource
//                              that there is not; the option.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_run_create(
    takt_instance_t* instance, takt_plan_t* plan, size_t binding_count,
    const takt_plan_binding_t* bindings, const takt_plan_run_options_t* options,
    takt_plan_run_t** out_run);

// Adds a reference.
TAKT_EXPORT void takt_plan_run_retain(takt_plan_run_t* run);

// Releases a reference. A started run needs none: it goes on until it is over,
// a cyclic run until it is stopped.
TAKT_EXPORT void takt_plan_run_release(takt_plan_run_t* run);

// Time 0 of the plan is `start_ns`, on takt_clock_now_ns(): soon, but so much
// ahead that the first calls can be made (lead_ns). A cyclic plan is repeated
// until it is stopped.
//
// Errors: FAILED_PRECONDITION  it has been started; another run is under way; a
//                              stream runs already.
//         INVALID_ARGUMENT     the time has passed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_start(takt_plan_run_t* run, int64_t start_ns);

// Another plan takes over: what is released from `at_ns` on is its own, and
// `at_ns` its time 0; what was released before ends by the old one. Of a cyclic
// plan, the next end of a period from `at_ns` on. Its streams must be bound.
// Counts of operations begin anew with the plan that takes over.
//
//   out_at_ns  receives when; may be NULL.
//
// Errors: FAILED_PRECONDITION  it does not run; a plan is taking over; as
//                              takt_plan_run_create().
//         INVALID_ARGUMENT     the time has passed; as takt_plan_run_create();
//                              one is cyclic and the other is not; a bound
//                              takt_stream_t would be released at other times.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_run_replace(
    takt_plan_run_t* run, takt_plan_t* plan, int64_t at_ns, int64_t* out_at_ns);

// Releases nothing any more; what is in flight is the online policy's. Does
// nothing to a run that is over.
TAKT_EXPORT void takt_plan_run_stop(takt_plan_run_t* run);

// Waits until the run is over: stopped, failed, or of a single shot all its
// calls done. This thread helps the workers meanwhile. Not in a callback.
//
// Errors: DEADLINE_EXCEEDED    not by then.
//         FAILED_PRECONDITION  it was never started.
//         ABORTED              it failed: says which operation did what.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_wait(takt_plan_run_t* run, int64_t deadline_ns);

// Of times in ns; negative ones are early.
typedef struct takt_plan_errors_t {
  uint64_t count;
  int64_t min;
  int64_t max;
  int64_t q50;  // Of the last 128.
  int64_t q99;
} takt_plan_errors_t;

// How far what happened is from the plan.
typedef struct takt_plan_run_report_t {
  size_t struct_size;  // Set by the caller.
  bool is_running;
  uint64_t started_count;     // Planned operations, of all plans.
  uint64_t in_place_count;    // Of them, on their planned resources.
  uint64_t violation_count;   // Strict.
  uint64_t divergence_count;  // Adaptive, and
  uint64_t repair_count;      // of them, that the plan could be moved.
  uint64_t call_count;        // Made by the run, and
  uint64_t failed_count;      // of them, failed.
  // Actual less planned, of all operations of the plan; early counts as 0.
  takt_quantiles_t late_start;
  takt_quantiles_t late_end;
  int64_t first_release_ns;  // Of a job; 0: none yet.
  int64_t last_end_ns;       // Of an operation.
  uint64_t resolve_count;    // Adaptive: what was left was planned anew; or
  uint64_t refused_count;    // was, but too late, or jobs would have been late.
} takt_plan_run_report_t;

// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_run_query(takt_plan_run_t* run, takt_plan_run_report_t* out_report);

// One operation of the plan: when it started and ended, less when it should
// have.
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
