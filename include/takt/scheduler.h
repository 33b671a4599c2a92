// takt/scheduler.h - decides which operation runs when, and how wide.
//
// With a scheduler, the dispatches of an instance's "local-task" devices that
// are worth a decision wait for one: jobs go by criticality, priority, deadline
// and what is left of them, less urgent ones give way between two tiles, and
// each dispatch runs on as many cores as pay. What dispatches cost is learned,
// and kept in a profile file. docs/scheduling.md explains it.
//
//   takt_scheduler_options_t scheduler;
//   takt_scheduler_options_init(&scheduler);
//   scheduler.policy = "job-shop";
//   options.scheduler = &scheduler;       // takt_instance_options_t
//
// Thread-safety: every function may run on any thread, but for the callbacks'
// own threads (see takt_scheduler_set_callbacks()).
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
  // One of takt_scheduler_policy_names(), borrowed. NULL: "job-shop".
  const char* policy;
  // Power: work is kept on as few clusters as deadlines allow.
  bool fewest_clusters;
  // What has waited so long rises by a class. 0: never. Default: 1 s.
  int64_t aging_ns;
  // Windows, with the policy "job-shop": the jobs that are there and those that
  // are expected within so much time are planned ahead, again and again, and
  // the plan is followed while it holds. Default: 0, none; 100 ms, say.
  int64_t window_ns;
  // How long planning a window may take, on a thread of its own. Default: 0, a
  // twentieth of it.
  int64_t window_budget_ns;
} takt_scheduler_options_t;

static inline void takt_scheduler_options_init(
    takt_scheduler_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->aging_ns = 1000000000;
}

// "off", the executor's lanes alone, then the policies of docs/scheduling.md.
// Returns how many there are; the names live forever.
TAKT_EXPORT size_t takt_scheduler_policy_names(const char* const** out_names);

// The policy of this instance; lives as long as it.
TAKT_EXPORT const char* takt_scheduler_policy(const takt_instance_t* instance);

// The functions below need a scheduler: FAILED_PRECONDITION if its policy is
// "off". RESOURCE_EXHAUSTED if the workers cannot be started.

typedef enum takt_scheduler_mode_t {
  TAKT_SCHEDULER_MODE_NOMINAL = 0,
  TAKT_SCHEDULER_MODE_BURST = 1,  // More is asked for than there is.
  TAKT_SCHEDULER_MODE_HOT =
      2,  // A pool runs well below its speed, or soon will.
  TAKT_SCHEDULER_MODE_DEGRADED = 3,  // A resource is lost.
} takt_scheduler_mode_t;

// What operations run on.
typedef struct takt_resource_t {
  char pool[32];  // Cores that are alike; NUL-terminated.
  bool is_npu;
  bool is_available;
  uint32_t speed_permille;  // Of its nominal speed.
} takt_resource_t;

// Stores up to `capacity` of them and how many there are. NULL is fine with a
// capacity of 0.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_resources(
    takt_instance_t* instance, size_t capacity, takt_resource_t* out_resources,
    size_t* out_count);

// What the application knows of a resource, by its index above: it is lost, or
// found again. What runs on a lost one stops after its tile and goes on
// elsewhere.
//
// Errors: INVALID_ARGUMENT  there is no such resource.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_available(
    takt_instance_t* instance, uint32_t resource, bool is_available);

// A pool runs at this part of its nominal speed.
//
// Errors: NOT_FOUND         there is no such pool.
//         INVALID_ARGUMENT  not 1 to 1000000 thousandths.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_speed(
    takt_instance_t* instance, const char* pool, uint32_t permille);

// What the application knows of heat: the machine is about to slow down, or is
// so no more. While this or a thermometer of the kernel says so, the mode is
// TAKT_SCHEDULER_MODE_HOT; it follows within 250 ms.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_scheduler_set_hot(takt_instance_t* instance, bool is_hot);

// Reads the current mode.
//
// Errors: FAILED_PRECONDITION  the instance has no scheduler.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_mode(
    takt_instance_t* instance, takt_scheduler_mode_t* out_mode);

typedef enum takt_admission_verdict_t {
  TAKT_ADMISSION_FITS = 0,     // Every job is in time, if nothing takes longer
                               // than the 99 % quantile of what it took so far.
  TAKT_ADMISSION_UNKNOWN = 1,  // Nobody can tell.
  TAKT_ADMISSION_IMPOSSIBLE = 2,  // Not even alone, or not with this load.
} takt_admission_verdict_t;

// The answer of admission, with its numbers.
typedef struct takt_admission_t {
  size_t struct_size;  // Set by the caller.
  takt_admission_verdict_t verdict;
  char reason[192];  // Which number missed which; empty if it will fit.
  int64_t deadline_ns;
  int64_t response_least_ns;  // No job is done sooner,
  int64_t response_bound_ns;  // nor later. TAKT_INFINITE_FUTURE: not known.
  // What is asked for each second over what there is, in millionths: of the
  // streams that were promised, and with this one.
  int64_t load_before_ppm;
  int64_t load_after_ppm;
} takt_admission_t;

// Whether the jobs of `stream` would be in time beside all that was promised.
// It rests on what the stream's last job was made of: run one first (start it
// and wait), or load a profile and run one.
//
//   promise  keep to it if the answer is TAKT_ADMISSION_FITS and the stream is
//   hard:
//            its jobs go before all that was not promised, as long as the
//            stream lives.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_stream_admit(
    takt_stream_t* stream, bool promise, takt_admission_t* out_admission);

// Of all jobs of streams of one criticality, and of calls with a deadline
// (which are soft), since the workers were started.
typedef struct takt_class_statistics_t {
  size_t struct_size;  // Set by the caller.
  uint64_t released_count;
  uint64_t met_count;
  uint64_t missed_count;
  uint64_t dropped_count;
  uint64_t failed_count;
  takt_quantiles_t response;  // From when it should have been released.
  takt_quantiles_t release_error;
} takt_class_statistics_t;

// Errors: INVALID_ARGUMENT  struct_size is not set, or no such criticality.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_class(
    takt_instance_t* instance, takt_criticality_t criticality,
    takt_class_statistics_t* out_statistics);

// Of windows (takt_scheduler_options_t::window_ns), since the workers were
// started.
typedef struct takt_window_statistics_t {
  size_t struct_size;         // Set by the caller.
  uint64_t planned_count;     // Windows whose plan was followed.
  uint64_t failed_count;      // That could not be planned, or not in time.
  uint64_t broken_count;      // Of the planned ones, given up before their end.
  uint64_t started_count;     // Operations by a plan, and
  uint64_t in_place_count;    // those of them where it had them.
  takt_quantiles_t planning;  // What planning took, in ns.
} takt_window_statistics_t;

// Errors: INVALID_ARGUMENT     struct_size is not set.
//         FAILED_PRECONDITION  the scheduler plans no windows.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_query_windows(
    takt_instance_t* instance, takt_window_statistics_t* out_statistics);

// A job that was late, or was not done.
typedef struct takt_miss_t {
  const char* stream;  // The function's name, or "calls"; borrowed.
  takt_criticality_t criticality;
  takt_stream_outcome_t outcome;
  int64_t release_ns;
  int64_t deadline_ns;
  int64_t response_ns;  // Until it was done or given up.
} takt_miss_t;

// Sets the functions that are called for each such job, and for each change of
// mode. They run on the thread that decided it, perhaps on several at once, and
// must not block. NULL: no call.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_set_callbacks(
    takt_instance_t* instance,
    void (*on_miss)(void* user_data, const takt_miss_t* miss),
    void (*on_mode)(void* user_data, takt_scheduler_mode_t mode),
    void* user_data);

// Writes what was learned to `path`: after a crash there is the old file or the
// new one.
//
// Errors: those of the system, naming the path. Blocks: until it is stored.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_scheduler_save_profile(takt_instance_t* instance, const char* path);

// Takes over what a profile says. Durations go by the content of the code that
// they were learned of, so that of other modules does no harm, and waits for
// its module.
//
//   out_record_count  receives how many durations it holds; may be NULL.
//
// Errors: NOT_FOUND      there is no such file.
//         DATA_LOSS      it is damaged, at that offset; nothing was taken over.
//         UNIMPLEMENTED  it is of another version.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_scheduler_load_profile(
    takt_instance_t* instance, const char* path, size_t* out_record_count);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_SCHEDULER_H_
