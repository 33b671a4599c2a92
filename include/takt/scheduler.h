// takt/scheduler.h - decides which operation runs when, and on how many cores.
//
// With a scheduler, a dispatch of a "local-task" device waits for a decision,
// unless it is too short for one. Jobs are ordered by criticality, priority,
// deadline and remaining work. Less urgent work stops between two tiles. Each
// dispatch runs on as many cores as shorten it. The scheduler learns what
// dispatches cost, and can keep that in a profile file. docs/scheduling.md
// explains it.
//
//   takt_scheduler_options_t scheduler;
//   takt_scheduler_options_init(&scheduler);
//   scheduler.window_ns = 100000000;
//   options.scheduler = &scheduler;       // takt_instance_options_t
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_SCHEDULER_H_
#define TAKT_SCHEDULER_H_

#include <string.h>

#include "takt/instance.h"
#include "takt/stream.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_scheduler_options_t {
  size_t struct_size;  // Set by init.
  // One of takt_scheduler_policy_names(), borrowed. NULL: "job-shop";
  // "off" in a build without the scheduler.
  const char* policy;
  // Saves power: work runs on as few clusters as the deadlines allow.
  bool fewest_clusters;
  // Work that has waited for this time rises by one class. 0: never. Default:
  // 1 s.
  int64_t aging_ns;
  // The length of a window, with the policy "job-shop". The scheduler plans the
  // released jobs and those expected within a window ahead of time, follows
  // that plan while it holds, and then plans the next window. 100 ms is a usual
  // length. Default: 0, no windows.
  int64_t window_ns;
  // The time that planning a window may take, on a thread of its own. Default:
  // 0, a twentieth of the window.
  int64_t window_budget_ns;
} takt_scheduler_options_t;

static inline void takt_scheduler_options_init(
    takt_scheduler_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->aging_ns = 1000000000;
}

// Returns the number of policies and stores their names, which live forever.
// The first one is "off", the executor's lanes alone; docs/scheduling.md
// describes the others.
TAKT_EXPORT size_t takt_scheduler_policy_names(const char* const** out_names);

// Returns the policy of this instance. The text lives as long as the instance.
TAKT_EXPORT const char* takt_scheduler_policy(const takt_instance_t* instance);

// The functions below need a scheduler: FAILED_PRECONDITION if its policy is
// "off". RESOURCE_EXHAUSTED if the workers cannot be started.

typedef enum takt_scheduler_mode_t {
  TAKT_SCHEDULER_MODE_NOMINAL = 0,
  TAKT_SCHEDULER_MODE_BURST = 1,  // Jobs need more time than there is.
  // A pool runs well below its nominal speed, or soon will.
  TAKT_SCHEDULER_MODE_HOT = 2,
  TAKT_SCHEDULER_MODE_DEGRADED = 3,  // A resource is lost.
} takt_scheduler_mode_t;

// A core or an NPU.
typedef struct takt_resource_t {
  char pool[32];  // The name of its pool of equal cores; NUL-terminated.
  bool is_npu;
  bool is_available;
  uint32_t speed_permille;  // In thousandths of its nominal speed.
} takt_resource_t;

// Stores up to `capacity` resources, and their number in *out_count.
// `out_resources` may be NULL if the capacity is 0.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_resources(
    takt_instance_t* instance, size_t capacity, takt_resource_t* out_resources,
    size_t* out_count);

// Reports that a resource is lost, or available again. Work on a lost resource
// stops after its tile and continues on another one.
//
//   resource  an index of takt_scheduler_query_resources().
//
// Errors: INVALID_ARGUMENT  there is no such resource.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_available(
    takt_instance_t* instance, uint32_t resource, bool is_available);

// Reports the speed of a pool, in thousandths of its nominal speed.
//
// Errors: NOT_FOUND         there is no such pool.
//         INVALID_ARGUMENT  `permille` is not 1 to 1000000.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_speed(
    takt_instance_t* instance, const char* pool, uint32_t permille);

// Reports that the machine is about to slow down because of heat, or is no
// longer about to. While the application or a thermometer of the kernel reports
// heat, the mode is TAKT_SCHEDULER_MODE_HOT. It changes within 250 ms.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_scheduler_set_hot(takt_instance_t* instance, bool is_hot);

// Reads the current mode.
//
// Errors: FAILED_PRECONDITION  the instance has no scheduler.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_mode(
    takt_instance_t* instance, takt_scheduler_mode_t* out_mode);

typedef enum takt_admission_verdict_t {
  // Every job meets its deadline, if no dispatch takes longer than the 99 %
  // quantile of its durations so far.
  TAKT_ADMISSION_FITS = 0,
  // The numbers do not decide it.
  TAKT_ADMISSION_UNKNOWN = 1,
  // Jobs miss their deadlines even alone, or because of the load.
  TAKT_ADMISSION_IMPOSSIBLE = 2,
} takt_admission_verdict_t;

// The answer of takt_stream_admit(), with its numbers.
typedef struct takt_admission_t {
  size_t struct_size;  // Set by the caller.
  takt_admission_verdict_t verdict;
  // The comparison of numbers that decided it; empty if the verdict is FITS.
  char reason[192];
  int64_t deadline_ns;
  int64_t response_least_ns;  // No job takes less time.
  // No job takes more time, beside the streams that have a promise now; a later
  // promise may raise it, up to the deadline. TAKT_INFINITE_FUTURE: not known.
  int64_t response_bound_ns;
  // The time that jobs need in each second by the time that the cores have, in
  // millionths: for the streams with a promise, and for these and this stream.
  int64_t load_before_ppm;
  int64_t load_after_ppm;
} takt_admission_t;

// Finds whether the jobs of `stream` would meet their deadlines beside all
// streams with a promise. The answer is computed from the operations of the
// stream's last job, so one job must have run before, perhaps with a profile
// that was loaded.
//
//   promise  true: if the verdict is TAKT_ADMISSION_FITS and the stream is
//            hard, its jobs go before all work without a promise, as long as
//            the stream lives. While a plan is carried out or windows are
//            planned, the verdict is TAKT_ADMISSION_UNKNOWN at best: planned
//            work goes before promises.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_admit(
    takt_stream_t* stream, bool promise, takt_admission_t* out_admission);

// Counts of all jobs of one criticality since the workers were started. Calls
// with a deadline count as soft jobs.
typedef struct takt_class_statistics_t {
  size_t struct_size;  // Set by the caller.
  uint64_t released_count;
  uint64_t met_count;
  uint64_t missed_count;
  uint64_t dropped_count;
  uint64_t failed_count;
  takt_quantiles_t response;  // From when a job was due to its end.
  takt_quantiles_t release_error;
} takt_class_statistics_t;

// Reads the statistics of one criticality. A job is counted shortly after its
// results are there: right after a wait for them its count may be missing.
//
// Errors: INVALID_ARGUMENT  struct_size is not set; there is no such
//                           criticality.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_class(
    takt_instance_t* instance, takt_criticality_t criticality,
    takt_class_statistics_t* out_statistics);

// How well durations of operations are predicted, since the workers were
// started. Whole runs of operations count whose durations were known before.
typedef struct takt_duration_statistics_t {
  size_t struct_size;  // Set by the caller.
  uint64_t run_count;
  int64_t ran_ns;          // The sum of their durations.
  int64_t error_ns;        // The sum of the errors of what was expected.
  int64_t plain_error_ns;  // The same by the median of all runs, whatever ran
                           // beside them.
} takt_duration_statistics_t;

// Reads the statistics of durations.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_durations(
    takt_instance_t* instance, takt_duration_statistics_t* out_statistics);

// Counts of windows (takt_scheduler_options_t::window_ns) since the workers
// were started.
typedef struct takt_window_statistics_t {
  size_t struct_size;         // Set by the caller.
  uint64_t planned_count;     // Windows whose plan was followed.
  uint64_t failed_count;      // Windows without a plan, or with one too late.
  uint64_t broken_count;      // Planned windows that were abandoned.
  uint64_t started_count;     // Operations that a plan started.
  uint64_t in_place_count;    // Those that ran on their planned resources.
  takt_quantiles_t planning;  // The time that planning took, in ns.
} takt_window_statistics_t;

// Reads the statistics of windows.
//
// Errors: INVALID_ARGUMENT     struct_size is not set.
//         FAILED_PRECONDITION  the scheduler plans no windows.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_windows(
    takt_instance_t* instance, takt_window_statistics_t* out_statistics);

// A job that missed its deadline or was dropped.
typedef struct takt_miss_t {
  const char* stream;  // The function's name, or "calls"; borrowed.
  takt_criticality_t criticality;
  takt_stream_outcome_t outcome;
  int64_t release_ns;
  int64_t deadline_ns;
  int64_t response_ns;  // Until the job ended or was dropped.
} takt_miss_t;

// Sets the functions that are called for each job that missed its deadline or
// was dropped, and for each change of mode. NULL: no call. The functions may
// run on several threads at once, and must not block.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_callbacks(
    takt_instance_t* instance,
    void (*on_miss)(void* user_data, const takt_miss_t* miss),
    void (*on_mode)(void* user_data, takt_scheduler_mode_t mode),
    void* user_data);

// Writes the learned durations to the file `path`. After a crash the file is
// the old one or the new one.
//
// Errors: those of the system, naming the path. Blocks: until the file is
// stored.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_scheduler_save_profile(takt_instance_t* instance, const char* path);

// Reads a profile. Its durations are identified by the content of the code that
// they were learned from, so a profile may have durations of modules that are
// loaded later, or never.
//
//   out_record_count  receives the number of durations in the profile; may be
//                     NULL.
//
// Errors: NOT_FOUND      there is no such file.
//         DATA_LOSS      the file is damaged at the offset that the message
//                        names; nothing was read.
//         UNIMPLEMENTED  the file is of another version.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_load_profile(
    takt_instance_t* instance, const char* path, size_t* out_record_count);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_SCHEDULER_H_
