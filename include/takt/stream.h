// takt/stream.h - functions that are called again and again by the clock.
//
// A stream calls one function once a period, at absolute times: a policy every
// 5 ms, say. What it is called with lies in an input slot, where the
// application puts it when it has it; what comes of it lies in an output slot,
// and is told to a callback. So a control loop never waits for the runtime, and
// the runtime never for the loop:
//
//   takt_stream_options_t options;
//   takt_stream_options_init(&options);
//   options.period_ns = 5000000;
//   options.deadline_ns = 5000000;
//   options.criticality = TAKT_CRITICALITY_HARD;
//   check(takt_stream_create(policy, &options, &stream));
//   check(takt_stream_start(stream, takt_clock_now_ns()));
//   ...
//   check(takt_stream_map_input(stream, 0, &observation, NULL));  // The loop:
//   read_sensors(observation);
//   check(takt_stream_publish_input(stream));
//   if (takt_stream_take_output(stream, 1, &action, NULL)) { ... }
//
// Jobs: each release makes one. A stream has at most one job in flight; a
// release that finds one waits, and what becomes of it is `late`.
//
// Threads: one thread of the instance releases jobs (see timer_* in
// takt_instance_options_t). Workers run them, or threads that wait for
// something.
//
// Thread-safety: every function may run on any thread; those that write inputs
// on one at a time, and so takt_stream_take_output().
#ifndef TAKT_STREAM_H_
#define TAKT_STREAM_H_

#include <string.h>

#include "takt/function.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_stream_t takt_stream_t;

typedef enum takt_criticality_t {
  TAKT_CRITICALITY_HARD = 0,         // Priority 224: must not be late.
  TAKT_CRITICALITY_SOFT = 1,         // Priority 128.
  TAKT_CRITICALITY_BEST_EFFORT = 2,  // Priority 32: in what others leave.
} takt_criticality_t;

// When a job is released.
typedef enum takt_stream_arrival_t {
  TAKT_STREAM_ARRIVAL_PERIODIC =
      0,  // At the start time, and every period after it.
  TAKT_STREAM_ARRIVAL_INPUT = 1,  // When an input is set, which it takes.
  TAKT_STREAM_ARRIVAL_CLOSED =
      2,                          // At the start time, and when one is done; an
                                  // input must be set before, if it takes any.
  TAKT_STREAM_ARRIVAL_AFTER = 3,  // When a job of the stream `after` is done.
} takt_stream_arrival_t;

// What becomes of a job whose deadline passes.
typedef enum takt_stream_late_t {
  TAKT_STREAM_LATE_RUN_ON = 0,  // Nothing; it is counted.
  TAKT_STREAM_LATE_DEMOTE = 1,  // If it has not begun: it does as best effort.
  TAKT_STREAM_LATE_DROP =
      2,  // It does not begin, or is cancelled: what a device has
          // begun is finished, and its outputs are lost.
  // As DROP, and a release that waits gives way to the next one.
  TAKT_STREAM_LATE_LATEST_ONLY = 3,
} takt_stream_late_t;

typedef enum takt_stream_outcome_t {
  TAKT_STREAM_OUTCOME_MET = 0,      // Done by its deadline.
  TAKT_STREAM_OUTCOME_MISSED = 1,   // Done after it.
  TAKT_STREAM_OUTCOME_DROPPED = 2,  // Not done, because it was late.
  TAKT_STREAM_OUTCOME_FAILED = 3,   // Its call failed.
} takt_stream_outcome_t;

// One job. Times are of takt_clock_now_ns().
typedef struct takt_stream_job_t {
  uint64_t sequence;    // Releases of this stream before it.
  int64_t origin_ns;    // When it should have been released; in a chain, when
                        // the first of the chain should.
  int64_t deadline_ns;  // TAKT_INFINITE_FUTURE: none.
  int64_t begin_ns;     // When its call was issued; 0: it was not.
  int64_t end_ns;       // 0: not yet.
  uint64_t input_sequence;  // Inputs set before the one that it took.
  takt_stream_outcome_t outcome;
} takt_stream_job_t;

// Called when a job is over, on the thread that ended it; must not block.
//
//   job      borrowed.
//   status   NULL, or the error, which the callback owns.
//   results  borrowed: of a job that is MET or MISSED, takt_stream_t's
//            function's results; else none.
typedef void (*takt_stream_done_callback_t)(void* user_data,
                                            const takt_stream_job_t* job,
                                            takt_status_t status,
                                            size_t result_count,
                                            const takt_value_t* results);

// Called when a job's deadline has passed before the job was done: at that
// time, or when a release that waited is looked at. Must not block.
typedef void (*takt_stream_late_callback_t)(void* user_data,
                                            const takt_stream_job_t* job);

typedef struct takt_stream_options_t {
  size_t struct_size;  // Set by init.

  takt_stream_arrival_t arrival;  // Default: PERIODIC.
  int64_t period_ns;              // Of PERIODIC: above 0.
  // AFTER: the stream whose jobs release this one's; those that are MET or
  // MISSED. Its results are this stream's inputs if `takes_results`, else the
  // input slot's. Borrowed; kept.
  takt_stream_t* after;
  bool takes_results;

  // After a job's origin. Default: TAKT_INFINITE_FUTURE, or what the function's
  // annotation "takt.deadline_ns" says.
  int64_t deadline_ns;
  takt_stream_late_t late;         // Default: RUN_ON.
  takt_criticality_t criticality;  // Default: SOFT.
  // 0 to 255; instead of the criticality's. Default: TAKT_PRIORITY_DEFAULT.
  int32_t priority;
  // As in takt_invoke_options_t. Borrowed for the call.
  const uint64_t* cpu_words;
  size_t cpu_word_count;

  // Inputs that wait, each for a job of its own; a release that finds none has
  // no job. Default: 0, the latest only: a job takes what was set last, again
  // if nothing came. Of CLOSED always that.
  size_t input_queue_length;
  // Releases that wait for the job in flight; the oldest is dropped for one too
  // many. Default: 64.
  size_t release_queue_length;

  takt_stream_done_callback_t on_done;  // Default: NULL.
  takt_stream_late_callback_t on_late;  // Default: NULL.
  void* user_data;
} takt_stream_options_t;

static inline void takt_stream_options_init(takt_stream_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
  options->criticality = TAKT_CRITICALITY_SOFT;
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->release_queue_length = 64;
}

// A stream of calls of `function`, which it keeps. It rests until it is
// started.
//
//   options  of PERIODIC, the period must be given: not NULL.
//
// Errors: INVALID_ARGUMENT  names the option: a period, deadline or queue
//                           length that is none, a late policy without a
//                           deadline, AFTER without a stream of the same
//                           instance, `takes_results` of a function whose
//                           results are of other types than this one's
//                           arguments, a priority or CPU set that is none.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_create(
    takt_function_t* function, const takt_stream_options_t* options,
    takt_stream_t** out_stream);

// Adds a reference.
TAKT_EXPORT void takt_stream_retain(takt_stream_t* stream);

// Releases a reference. A running stream needs none: it goes on until it is
// stopped.
TAKT_EXPORT void takt_stream_release(takt_stream_t* stream);

// Releases jobs from `start_ns` (of takt_clock_now_ns()) on: PERIODIC and
// CLOSED the first one then, INPUT and AFTER from the next event on. If
// `start_ns` has passed, a PERIODIC stream begins with the next release that
// is a whole number of periods after it.
//
// Errors: FAILED_PRECONDITION  it runs already; it is CLOSED and has no input.
//         RESOURCE_EXHAUSTED   the workers or the timer cannot be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_start(takt_stream_t* stream, int64_t start_ns);

// Ends the releases, and forgets those that wait. The job in flight runs to its
// end.
TAKT_EXPORT void takt_stream_stop(takt_stream_t* stream);

// Waits until nothing is in flight and no callback runs, or the deadline has
// passed; this thread helps the workers meanwhile. If the stream was not
// stopped, it waits until the stream is between two jobs. Not in a callback.
//
// Errors: DEADLINE_EXCEEDED
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_wait_idle(takt_stream_t* stream, int64_t deadline_ns);

// Puts arguments into the input slot: of the latest only, in the place of what
// is there. What they refer to must not be written while a job that took it may
// be in flight; takt_stream_map_input() is for inputs that are written again
// and again.
//
//   arguments  borrowed; the stream takes references of its own. None of an
//              asynchronous function's fences.
//
// Errors: INVALID_ARGUMENT    as takt_async_invoke().
//         RESOURCE_EXHAUSTED  the input queue is full; nothing was put.
// Blocks: never, not for a lock either, but for TAKT_STREAM_ARRIVAL_INPUT,
// which wakes a worker. Allocates: nothing; may free what it replaces.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_set_input(takt_stream_t* stream, size_t argument_count,
                      const takt_value_t* arguments);

// Memory of the stream's own for argument `index`, to be written and then put
// into the slot by takt_stream_publish_input(): no job reads it before, nor
// afterwards what this gives for the next input. For streams that take the
// latest input, of functions whose arguments are tensors of static shapes: as
// the module declares them, or takt_function_declare() does.
//
//   out_data         receives the elements, row-major, 64-aligned, until the
//                    next takt_stream_publish_input(). They hold anything.
//   out_byte_length  may be NULL.
//
// Errors: FAILED_PRECONDITION  an input queue, or arguments of another kind.
//         OUT_OF_RANGE         the function has no such argument.
//         RESOURCE_EXHAUSTED   no memory.
// Blocks: never. Allocates: for the first three inputs.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_map_input(takt_stream_t* stream, size_t index, void** out_data,
                      size_t* out_byte_length);

// Puts into the slot what was written; every argument must have been mapped.
//
// Errors: FAILED_PRECONDITION  one was not.
// Blocks and allocates: as takt_stream_set_input().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_publish_input(takt_stream_t* stream);

// Takes the newest results that have not been taken. False, and nothing is
// stored, if there are none.
//
//   result_count  at least the function's number of results.
//   out_results   receive references of their own, for takt_values_release().
//   out_job       whose they are; may be NULL.
//
// Blocks and allocates: never.
TAKT_EXPORT bool takt_stream_take_output(takt_stream_t* stream,
                                         size_t result_count,
                                         takt_value_t* out_results,
                                         takt_stream_job_t* out_job);

// Of times in ns, exact to 3 %.
typedef struct takt_quantiles_t {
  uint64_t count;
  int64_t q50;
  int64_t q99;
  int64_t q999;
  int64_t max;  // Exact.
} takt_quantiles_t;

typedef struct takt_stream_statistics_t {
  size_t struct_size;  // Set by the caller.

  uint64_t released_count;
  uint64_t met_count;
  uint64_t missed_count;
  uint64_t dropped_count;
  uint64_t failed_count;
  uint64_t starved_count;        // Releases without an input.
  uint64_t overrun_count;        // Releases with a job in flight; CLOSED: 0.
  uint64_t skipped_count;        // Periods that passed without a release.
  takt_quantiles_t response;     // From the origin to the end; of MET, MISSED.
  takt_quantiles_t begin_delay;  // From the release to the call.
  takt_quantiles_t release_error;  // Of the timer, against the clock.
  // Jobs that are MET or MISSED and had a prediction at their release (see
  // takt_stream_predict()), and those of them that ended by its q99_ns.
  uint64_t predicted_count;
  uint64_t kept_count;
  takt_quantiles_t predicted_response;  // From the origin to that q99_ns.
} takt_stream_statistics_t;

// Since the stream was made.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_query_statistics(
    takt_stream_t* stream, takt_stream_statistics_t* out_statistics);

typedef struct takt_stream_predict_options_t {
  size_t struct_size;  // Set by init.
  // The release that is asked about, of takt_clock_now_ns(). Default: 0, the
  // stream's next one: of a PERIODIC stream that runs, by its schedule; else
  // one that happens now.
  int64_t release_ns;
  // The length of a control step, for the predictions in steps. Default: 0,
  // which gives none.
  int64_t step_ns;
  // Compute bound_ns, too; this asks the scheduler, as takt_stream_admit()
  // does. Default: false.
  bool with_bound;
} takt_stream_predict_options_t;

static inline void takt_stream_predict_options_init(
    takt_stream_predict_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// When the result of a release will be there. Times are of takt_clock_now_ns();
// TAKT_INFINITE_FUTURE: not known.
typedef struct takt_stream_prediction_t {
  size_t struct_size;  // Set by the caller.
  int64_t release_ns;  // The release.
  uint64_t job_count;  // Jobs that have ended, of which it was learned; at
                       // most the last 512.
  int64_t q50_ns;      // In half of the cases, the result is there before.
  int64_t q99_ns;      // In 99 % of the cases.
  int64_t bound_ns;    // With the promises that are kept, always.
  // From the release to these times in whole steps, rounded up; -1: not known,
  // or no step_ns was given.
  int64_t q50_steps;
  int64_t q99_steps;
  int64_t bound_steps;
} takt_stream_prediction_t;

// Predicts when the result of the stream's next job will be there, before the
// job is released: a policy that gives chunks of actions needs to know how many
// control steps pass meanwhile. The quantiles come from the stream's last jobs,
// and take into account the job in flight and the releases that wait. They
// adapt so that 99 % of the jobs end by q99_ns also where durations drift;
// statistics count how many did. bound_ns is admission's bound on the response:
// it holds beside all streams with a promise, if no dispatch takes longer than
// its learned 99 % quantile.
//
//   options  NULL: the defaults.
//
// Errors: INVALID_ARGUMENT  struct_size of `out_prediction` is not set;
//                           release_ns or step_ns is below 0.
// Blocks: never; with `with_bound`, until the scheduler has ended the decision
// that it makes. Allocates: only with `with_bound`.
// Source: Gibbs and Candes, "Adaptive Conformal Inference Under Distribution
// Shift", NeurIPS 2021.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_predict(
    takt_stream_t* stream, const takt_stream_predict_options_t* options,
    takt_stream_prediction_t* out_prediction);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STREAM_H_
