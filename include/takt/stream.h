// takt/stream.h - functions that the clock calls again and again.
//
// A stream calls one function once a period, at absolute times. For example, it
// calls a policy every 5 ms. The application puts arguments into an input slot
// when it has them, and takes results from an output slot when it needs them. A
// callback can report the end of each call. So a control loop never waits for
// the runtime, and the runtime never waits for the loop:
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
// Jobs: a job is one call of the function. Each release makes one. A stream has
// at most one job in flight. A release that comes during a job waits for its
// end; the option `late` says what happens if its deadline passes meanwhile.
//
// Threads: one thread of the instance releases jobs (see timer_* in
// takt_instance_options_t). Jobs run on the workers, and on threads that wait
// in a function of this library.
//
// Thread-safety: every function may run on any thread. Calls that write inputs
// must not overlap, and calls of takt_stream_take_output() must not either.
#ifndef TAKT_STREAM_H_
#define TAKT_STREAM_H_

#include <string.h>

#include "takt/function.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_stream_t takt_stream_t;

typedef enum takt_criticality_t {
  TAKT_CRITICALITY_HARD = 0,  // Priority 224: jobs must not be late.
  TAKT_CRITICALITY_SOFT = 1,  // Priority 128: jobs should not be late.
  // Priority 32: jobs run in the time that the other classes leave.
  TAKT_CRITICALITY_BEST_EFFORT = 2,
} takt_criticality_t;

// The event that releases a job.
typedef enum takt_stream_arrival_t {
  // The clock: a job at the start time, and one each period after it.
  TAKT_STREAM_ARRIVAL_PERIODIC = 0,
  // An input: the job takes it.
  TAKT_STREAM_ARRIVAL_INPUT = 1,
  // The end of the stream's own job: the first job is released at the start
  // time, and each later one at the end of the one before. If the function has
  // arguments, an input must be set before the start.
  TAKT_STREAM_ARRIVAL_CLOSED = 2,
  // The end of a job of the stream `after`.
  TAKT_STREAM_ARRIVAL_AFTER = 3,
  // Short names.
  TAKT_ARRIVAL_PERIODIC = TAKT_STREAM_ARRIVAL_PERIODIC,
  TAKT_ARRIVAL_INPUT = TAKT_STREAM_ARRIVAL_INPUT,
  TAKT_ARRIVAL_CLOSED = TAKT_STREAM_ARRIVAL_CLOSED,
  TAKT_ARRIVAL_AFTER = TAKT_STREAM_ARRIVAL_AFTER,
} takt_stream_arrival_t;

// The treatment of a job whose deadline passes before its end.
typedef enum takt_stream_late_t {
  // The job continues; it is counted.
  TAKT_STREAM_LATE_RUN_ON = 0,
  // A job that has not begun runs as best effort.
  TAKT_STREAM_LATE_DEMOTE = 1,
  // A job that has not begun does not begin. A job that has begun is cancelled:
  // devices finish the work that they have begun, and the results are lost.
  TAKT_STREAM_LATE_DROP = 2,
  // As DROP; and a release that waits is dropped when the next one comes.
  TAKT_STREAM_LATE_LATEST_ONLY = 3,
} takt_stream_late_t;

typedef enum takt_stream_outcome_t {
  TAKT_STREAM_OUTCOME_MET = 0,      // The job ended by its deadline.
  TAKT_STREAM_OUTCOME_MISSED = 1,   // The job ended after its deadline.
  TAKT_STREAM_OUTCOME_DROPPED = 2,  // The late policy ended the job.
  TAKT_STREAM_OUTCOME_FAILED = 3,   // The call failed.
} takt_stream_outcome_t;

// One job. Times are on takt_clock_now_ns().
typedef struct takt_stream_job_t {
  uint64_t sequence;        // Releases of this stream before it.
  int64_t origin_ns;        // When the job was due; in a chain of streams, when
                            // the first job of the chain was due.
  int64_t deadline_ns;      // TAKT_INFINITE_FUTURE: none.
  int64_t begin_ns;         // When its call was issued; 0: it was not issued.
  int64_t end_ns;           // 0: the job has not ended.
  uint64_t input_sequence;  // Inputs set before the one that the job took.
  takt_stream_outcome_t outcome;
} takt_stream_job_t;

// Called at the end of each job, on the thread that ends it. The callback must
// not block.
//
//   job      borrowed.
//   status   NULL, or the error, which the callback owns.
//   results  borrowed: the results of the function if the job is MET or MISSED;
//            else none.
typedef void (*takt_stream_done_callback_t)(void* user_data,
                                            const takt_stream_job_t* job,
                                            takt_status_t status,
                                            size_t result_count,
                                            const takt_value_t* results);

// Called once for a job whose deadline passes before its end: when the deadline
// passes, or, for a release that waited, when the stream takes it up. The
// callback must not block.
typedef void (*takt_stream_late_callback_t)(void* user_data,
                                            const takt_stream_job_t* job);

typedef struct takt_stream_options_t {
  size_t struct_size;  // Set by init.

  takt_stream_arrival_t arrival;  // Default: PERIODIC.
  int64_t period_ns;              // For PERIODIC: above 0.
  // For AFTER: each of its jobs that is MET or MISSED releases a job of this
  // stream. If `takes_results` is set, the results of that job are the inputs
  // of the new one; else the new one takes them from the input slot. The new
  // stream adds a reference.
  takt_stream_t* after;
  bool takes_results;

  // The deadline of a job, counted from its origin. Default: the function's
  // annotation "takt.deadline_ns", or else TAKT_INFINITE_FUTURE.
  int64_t deadline_ns;
  takt_stream_late_t late;         // Default: RUN_ON.
  takt_criticality_t criticality;  // Default: SOFT.
  // 0 to 255. Default: TAKT_PRIORITY_DEFAULT, the priority of the criticality.
  int32_t priority;
  // As in takt_invoke_options_t. Borrowed for the call.
  const uint64_t* cpu_words;
  size_t cpu_word_count;

  // The length of the queue of inputs. Each input is for one job, and a release
  // that finds no input makes no job. Default: 0, no queue: a job takes the
  // latest input, even if an earlier job took it before. A CLOSED stream has no
  // queue.
  size_t input_queue_length;
  // How many releases may wait for the job in flight. One more drops the oldest
  // of them. Default: 64.
  size_t release_queue_length;

  takt_stream_done_callback_t on_done;  // Default: NULL.
  takt_stream_late_callback_t on_late;  // Default: NULL.
  void* user_data;

  // The stream keeps its last jobs, as many as this, with copies of their
  // inputs and results; takt_stream_write_capture() writes them. Each argument
  // and result must be a scalar or a tensor of a static shape, by the module's
  // declaration or by takt_function_declare(). Default: 0, it keeps none.
  size_t capture_job_count;
  // A job that is not MET has them written in the background: job 12 to
  // "miss-12.safetensors" if this is "miss.safetensors". If the instance
  // records a trace, that is written beside it, to "miss-12.pftrace". Borrowed
  // for the call. Default: NULL, jobs write no files.
  const char* capture_path;
  size_t capture_file_count_max;  // Jobs that do so. Default: 4.

  // Of each `met_window` jobs in a row (2 to 64), at least `met_min` must be
  // MET. As long as enough of the last jobs are MET, the next one may miss its
  // deadline, and runs with the urgency of the criticality below; but not if
  // the stream has a promise (takt_stream_admit()). A release that is dropped
  // counts as a job that is not MET. Default: 0 and 0, no job may miss.
  uint32_t met_min;
  uint32_t met_window;

  // With a scheduler (policy "job-shop" or "priority"): the part of its cores'
  // time, in thousandths, that the stream gets of any 100 ms in which it asks
  // for it. Its jobs then go before all that are not HARD, and after those.
  // 1 to 1000; not for a HARD stream. Default: 0, no share.
  uint32_t share_permille;
  // With the policy "job-shop": BEST_EFFORT jobs of equal priority divide the
  // time that the others leave by the weights of their streams, 1 to 1000.
  // Default: 0, as 1 beside streams that have a weight; without any the earlier
  // deadline goes first.
  uint32_t weight;
} takt_stream_options_t;

static inline void takt_stream_options_init(takt_stream_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->deadline_ns = TAKT_DEADLINE_DEFAULT;
  options->criticality = TAKT_CRITICALITY_SOFT;
  options->priority = TAKT_PRIORITY_DEFAULT;
  options->release_queue_length = 64;
  options->capture_file_count_max = 4;
}

// Makes a stream of calls of `function`. It releases no job before it is
// started.
//
//   function    the stream adds a reference.
//   options     borrowed; NULL for the defaults, which a PERIODIC stream cannot
//               use because it needs a period.
//   out_stream  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  names the option: an invalid period, deadline,
//                           queue length, priority or CPU set; a late policy
//                           without a deadline; a met_window without a
//                           deadline, or with a met_min that is not from 1 to
//                           met_window - 1; a share or weight without a
//                           scheduler, or a share of a HARD stream; AFTER
//                           without a stream of the same
//                           instance; `takes_results` where the results do not
//                           have the declared types and shapes of this
//                           function's arguments (a dynamic dimension fits
//                           any size); an argument or result that a capture
//                           cannot hold.
//         FAILED_PRECONDITION  the shares of the streams are more than all
//                           cores together.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_create(
    takt_function_t* function, const takt_stream_options_t* options,
    takt_stream_t** out_stream);

// Adds a reference.
TAKT_EXPORT void takt_stream_retain(takt_stream_t* stream);

// Releases a reference. A running stream needs none: it runs until it is
// stopped.
TAKT_EXPORT void takt_stream_release(takt_stream_t* stream);

// Starts the releases. A PERIODIC or CLOSED stream releases its first job at
// `start_ns` (on takt_clock_now_ns()), an INPUT or AFTER stream at its next
// event. If `start_ns` has passed, the first release of a PERIODIC stream is
// the next one that is a whole number of periods after it.
//
// Errors: FAILED_PRECONDITION  the stream runs already, or is CLOSED and has no
//                              input.
//         RESOURCE_EXHAUSTED   the workers or the timer cannot be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_start(takt_stream_t* stream, int64_t start_ns);

// Ends the releases and drops those that wait: they count as dropped, and no
// callback reports them. The job in flight runs to its end.
TAKT_EXPORT void takt_stream_stop(takt_stream_t* stream);

// Waits until no job is in flight and no callback runs, or until the deadline
// (on takt_clock_now_ns()) has passed. The calling thread helps the workers
// meanwhile. If the stream was not stopped, the wait ends between two jobs.
// Must not be called in a callback.
//
// Errors: DEADLINE_EXCEEDED  the deadline has passed.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_wait_idle(takt_stream_t* stream, int64_t deadline_ns);

// Puts arguments into the input slot. Without an input queue they replace the
// ones that are there. A buffer that an argument refers to must not be written
// while a job that took it may be in flight; takt_stream_map_input() is for
// inputs that are written again and again.
//
//   arguments  borrowed; the stream adds references. The fences of an
//              asynchronous function are not among them.
//
// Errors: INVALID_ARGUMENT    as for takt_async_invoke().
//         RESOURCE_EXHAUSTED  the input queue is full; nothing was added.
// Blocks: never, and takes no lock; only on a stream with
// TAKT_STREAM_ARRIVAL_INPUT it wakes a worker. Allocates: nothing; may free the
// arguments that it replaces.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_set_input(takt_stream_t* stream, size_t argument_count,
                      const takt_value_t* arguments);

// Returns memory of the stream for argument `index`. The caller writes the
// argument there and puts it into the slot by takt_stream_publish_input(). No
// job reads the memory before that; the next input gets other memory. For
// streams without an input queue, whose functions have arguments that are
// tensors of static shapes, by the module's declaration or by
// takt_function_declare().
//
//   out_data         receives the address of the elements: row-major, aligned
//                    to 64 bytes, with undefined contents. Valid until the next
//                    takt_stream_publish_input().
//   out_byte_length  receives their size; may be NULL.
//
// Errors: FAILED_PRECONDITION  the stream has an input queue, or an argument is
//                              no tensor of a static shape.
//         OUT_OF_RANGE         the function has no such argument.
//         RESOURCE_EXHAUSTED   there is no memory.
// Blocks: never. Allocates: only for the first three inputs.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_map_input(takt_stream_t* stream, size_t index, void** out_data,
                      size_t* out_byte_length);

// Puts the arguments that were written into the input slot. Every argument must
// have been mapped since the last call.
//
// Errors: FAILED_PRECONDITION  an argument was not mapped.
// Blocks and allocates: as takt_stream_set_input().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_publish_input(takt_stream_t* stream);

// Takes the newest results, if they have not been taken before. Returns false,
// and stores nothing, if there are none, or if result_count is too small; the
// results can then be taken by a later call.
//
//   result_count  at least the function's number of results.
//   out_results   receives the results with references of their own, for
//                 takt_values_release().
//   out_job       receives the job that they are from; may be NULL.
//
// Blocks and allocates: never.
TAKT_EXPORT bool takt_stream_take_output(takt_stream_t* stream,
                                         size_t result_count,
                                         takt_value_t* out_results,
                                         takt_stream_job_t* out_job);

// Quantiles of times in ns. The error of a quantile is at most 3 %.
typedef struct takt_quantiles_t {
  uint64_t count;
  int64_t q50;
  int64_t q99;
  int64_t q999;
  int64_t max;  // The exact maximum.
} takt_quantiles_t;

typedef struct takt_stream_statistics_t {
  size_t struct_size;  // Set by the caller.

  uint64_t released_count;
  uint64_t met_count;
  uint64_t missed_count;
  uint64_t dropped_count;
  uint64_t failed_count;
  uint64_t starved_count;     // Releases that found no input.
  uint64_t overrun_count;     // Releases during a job; 0 for a CLOSED stream.
  uint64_t skipped_count;     // Periods that passed without a release.
  takt_quantiles_t response;  // From the origin to the end, of jobs that are
                              // MET or MISSED.
  takt_quantiles_t begin_delay;    // From the release to the call.
  takt_quantiles_t release_error;  // From the planned to the actual release.
  // Jobs that are MET or MISSED and had a prediction at their release (see
  // takt_stream_predict()), and those of them that ended by its q99_ns.
  uint64_t predicted_count;
  uint64_t kept_count;
  takt_quantiles_t predicted_response;  // From the origin to that q99_ns.
  // With met_window: calls of jobs that might miss, and jobs at whose end fewer
  // than met_min of the last met_window were MET.
  uint64_t lenient_count;
  uint64_t broken_window_count;
} takt_stream_statistics_t;

// Reads the statistics of the stream since it was made.
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

// Writes the jobs that the stream has kept (capture_job_count) to a
// .safetensors file, which replaces the one that is there: the inputs and
// results of each, their times and outcomes. `takt-run-module --replay` runs
// them again and compares the results; docs/streams.md has the format.
//
// Errors: FAILED_PRECONDITION  the stream keeps no jobs.
//         those of the file system, with the path.
// Blocks: until the file is written. A job waits meanwhile for the copy of one
// other job at most. Allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_stream_write_capture(takt_stream_t* stream, const char* path);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_STREAM_H_
