// takt/tools/plan_problem.h - flexible job-shop problems, and schedules for
// them.
//
// Part of libtakt-tools. This interface may change with every release.
//
// A problem is a set of operations with precedences. Each operation is run by
// one of its alternatives: a set of machines (cores, an NPU) that it occupies
// all at once for a duration. Times are whole numbers of one unit of the
// caller's choice. Side constraints are optional: setup times, no-wait pairs
// and due dates.
//
// Thread-safety: problems and schedules are immutable; every function may run
// on any thread.
#ifndef TAKT_TOOLS_PLAN_PROBLEM_H_
#define TAKT_TOOLS_PLAN_PROBLEM_H_

#include <string.h>

#include "takt/base.h"
#include "takt/plan.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_plan_problem_t takt_plan_problem_t;
typedef struct takt_plan_schedule_t takt_plan_schedule_t;

typedef struct takt_plan_alternative_t {
  const uint32_t* machines;  // At least one; ascending.
  size_t machine_count;
  int64_t duration;
} takt_plan_alternative_t;

typedef struct takt_plan_operation_t {
  const takt_plan_alternative_t* alternatives;  // At least one.
  size_t alternative_count;
  int64_t release;  // The operation does not start before this time.
  // The least time between the operation's end and the end of the schedule. A
  // due date d is a tail of H - d for a common horizon H; lateness is then the
  // makespan less H.
  int64_t tail;
  uint32_t family;  // Of setup times; below 1024.
  // The operation's tardiness is the time from `due` to its end, if that is
  // later; it counts `weight` times. That of a job is its last operation's.
  int64_t due;
  int64_t weight;  // 0: no due date.
} takt_plan_operation_t;

// `after` starts when `before` has ended; both are indices of operations.
typedef struct takt_plan_precedence_t {
  uint32_t before;
  uint32_t after;
} takt_plan_precedence_t;

// The time that a machine needs between an operation of family `from` and the
// next one, of family `to`: an NPU changes its program. What has no such entry
// takes no time.
typedef struct takt_plan_setup_t {
  uint32_t machine;
  uint32_t from;  // TAKT_PLAN_FIRST: before the machine's first operation.
  uint32_t to;
  int64_t time;
} takt_plan_setup_t;
#define TAKT_PLAN_FIRST UINT32_MAX

typedef struct takt_plan_side_constraints_t {
  size_t struct_size;  // Set by init.
  // None twice for a machine and two families. An operation that may run on a
  // machine with setups takes time there.
  const takt_plan_setup_t* setups;
  size_t setup_count;
  // `after` starts at the moment at which `before` ends; a precedence too. An
  // operation is `before` in one pair and `after` in one at the most.
  const takt_plan_precedence_t* no_waits;
  size_t no_wait_count;
} takt_plan_side_constraints_t;

static inline void takt_plan_side_constraints_init(
    takt_plan_side_constraints_t* constraints) {
  memset(constraints, 0, sizeof(*constraints));
  constraints->struct_size = sizeof(*constraints);
}

// Makes a problem. All arguments are copied.
//
//   side_constraints  NULL for none.
//   out_problem       receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  names the operation: no alternative, a machine that
//                           does not exist, a time that is negative or too
//                           large, a cycle of precedences, no-wait pairs that
//                           would have to wait for others or for a setup.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_problem_create(
    size_t machine_count, size_t operation_count,
    const takt_plan_operation_t* operations, size_t precedence_count,
    const takt_plan_precedence_t* precedences,
    const takt_plan_side_constraints_t* side_constraints,
    takt_plan_problem_t** out_problem);

// The text formats of classic instances. Lines with side constraints may follow
// in both (docs/planning.md).
typedef enum takt_plan_format_t {
  // Jobs that are chains: "jobs machines [flexibility]", then a line a job:
  // the number of operations, and of each the number of alternatives and
  // (machine, duration) pairs. Machines count from 1. (Brandimarte 1993)
  TAKT_PLAN_FORMAT_FJS = 0,
  // Any precedences: "operations precedences machines", then (before, after)
  // pairs, then a line an operation: the number of alternatives and (machine,
  // duration) pairs. All count from 0. (Birgin et al. 2014)
  TAKT_PLAN_FORMAT_FAJS = 1,
} takt_plan_format_t;

// Reads a problem from text, which may be hostile.
//
//   out_problem  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  names the token at fault; or not a format.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_problem_parse(
    const char* text, size_t text_length, takt_plan_format_t format,
    takt_plan_problem_t** out_problem);

// Adds a reference.
TAKT_EXPORT void takt_plan_problem_retain(takt_plan_problem_t* problem);

// Releases a reference; the last one frees the problem.
TAKT_EXPORT void takt_plan_problem_release(takt_plan_problem_t* problem);

// Returns the number of machines.
TAKT_EXPORT size_t
takt_plan_problem_machine_count(const takt_plan_problem_t* problem);

// Returns the number of operations.
TAKT_EXPORT size_t
takt_plan_problem_operation_count(const takt_plan_problem_t* problem);

// Reads one alternative of an operation. The machines are borrowed from the
// problem. Returns false, and zeros in *out_alternative, if there is no such
// alternative.
TAKT_EXPORT bool takt_plan_problem_alternative(
    const takt_plan_problem_t* problem, size_t operation, size_t alternative,
    takt_plan_alternative_t* out_alternative);

// When an operation starts, and which of its alternatives runs it.
typedef struct takt_plan_entry_t {
  uint32_t alternative;
  int64_t start;
} takt_plan_entry_t;

// What the solver minimizes.
typedef enum takt_plan_objective_t {
  TAKT_PLAN_OBJECTIVE_MAKESPAN = 0,
  // The sum of the weighted tardiness of all operations.
  TAKT_PLAN_OBJECTIVE_TARDINESS = 1,
} takt_plan_objective_t;

// Called when the solver has found a better schedule, with its makespan and the
// time since the solver began. Calls do not overlap; they come from any thread
// of the solver and must not block for long. Returns false to stop the solver.
typedef bool (*takt_plan_progress_t)(void* user_data, int64_t makespan,
                                     int64_t elapsed_ns);

typedef struct takt_plan_solve_options_t {
  size_t struct_size;     // Set by init.
  int64_t time_limit_ns;  // Default: one second.
  uint32_t thread_count;  // Default: 1.
  // One thread with the same seed and step limit finds the same schedule.
  uint64_t seed;                   // Default: 1.
  uint64_t step_limit;             // Per thread; default: 0, none.
  takt_plan_progress_t on_better;  // May be NULL.
  void* user_data;
  // Where the search begins: a schedule that takt_plan_check() accepts,
  // borrowed for the call. The result is never longer. Default: NULL, only the
  // solver's own list schedules.
  const takt_plan_schedule_t* start;
  // The same for takt_workload_plan(): a plan of the same workload and profile.
  // takt_plan_solve() does not read it.
  const takt_plan_t* start_plan;
  // Of takt_plan_solve(). Default: the makespan.
  takt_plan_objective_t objective;
} takt_plan_solve_options_t;

static inline void takt_plan_solve_options_init(
    takt_plan_solve_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->time_limit_ns = 1000000000;
  options->thread_count = 1;
  options->seed = 1;
}

// What solving cost, and what it proved.
typedef struct takt_plan_solve_report_t {
  int64_t lower_bound;  // No schedule has a smaller value of the objective.
  int64_t elapsed_ns;
  int64_t best_found_ns;  // When the schedule was found.
  uint64_t step_count;    // Of all threads.
  int64_t weighted_tardiness;
  // Threads that the system refused, or that had no memory. The others searched
  // without them.
  uint32_t lost_thread_count;
} takt_plan_solve_report_t;

// Finds a schedule of small makespan: a list schedule, then tabu search from a
// population of schedules (Mastrolilli and Gambardella, J. Scheduling 2000;
// Ding et al., AAAI 2019) until the time is over or the lower bound is met.
// Problems with side constraints, and the objective of tardiness, have
// simulated annealing instead.
//
//   options       NULL for the defaults.
//   out_schedule  receives one reference; NULL on error.
//   out_report    may be NULL.
//
// Errors: INVALID_ARGUMENT  no thread, a negative time limit, no objective, or
//                           a `start` that is no schedule of the problem.
// Blocks: for the time limit, and one step of the search.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_solve(
    const takt_plan_problem_t* problem,
    const takt_plan_solve_options_t* options,
    takt_plan_schedule_t** out_schedule, takt_plan_solve_report_t* out_report);

// Makes a schedule from its entries, by operation. The entries are copied and
// not checked: see takt_plan_check().
//
//   out_schedule  receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_schedule_create(
    size_t entry_count, const takt_plan_entry_t* entries, int64_t makespan,
    takt_plan_schedule_t** out_schedule);

// Adds a reference.
TAKT_EXPORT void takt_plan_schedule_retain(takt_plan_schedule_t* schedule);

// Releases a reference; the last one frees the schedule.
TAKT_EXPORT void takt_plan_schedule_release(takt_plan_schedule_t* schedule);

// Returns the makespan: the latest end of an operation plus its tail.
TAKT_EXPORT int64_t
takt_plan_schedule_makespan(const takt_plan_schedule_t* schedule);

// Returns the entries, by operation, borrowed from the schedule; *out_count
// receives their number.
TAKT_EXPORT const takt_plan_entry_t* takt_plan_schedule_entries(
    const takt_plan_schedule_t* schedule, size_t* out_count);

// Checks a schedule against a problem. The check shares no code with the
// solver.
//
// Errors: INVALID_ARGUMENT  names the operations and the rule that is broken:
//                           the number of entries, an alternative that does
//                           not exist, a release, a precedence, a no-wait
//                           pair, two operations on one machine at once, a
//                           setup without the time for it, the makespan.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_check(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule);

// Computes the weighted tardiness of a schedule that takt_plan_check() accepts;
// INT64_MAX if it is beyond that.
//
//   out_tardiness  0 on error.
//
// Errors: as takt_plan_check().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_check_tardiness(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule,
    int64_t* out_tardiness);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_PLAN_PROBLEM_H_
