// takt/tools/trace_contents.h - what is inside a trace, and what it says about
// a run.
//
// Part of libtakt-tools. This interface may change with every release.
//
//   takt_trace_contents_t* contents = NULL;
//   check(takt_trace_contents_create(trace, &contents));
//   const takt_trace_info_t info = takt_trace_contents_info(contents);
//   for (size_t i = 0; i < info.event_count; ++i) {
//     const takt_trace_event_t event = takt_trace_contents_event(contents, i);
//     ...
//   }
//   takt_trace_contents_release(contents);
//
// Thread-safety: contents are immutable; every function may run on any thread.
#ifndef TAKT_TOOLS_TRACE_CONTENTS_H_
#define TAKT_TOOLS_TRACE_CONTENTS_H_

#include "takt/trace.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_trace_contents_t takt_trace_contents_t;

// Reads what is inside a trace. Takes time and memory in proportion to its
// events.
//
//   out_contents  receives one reference; NULL on error.
//
// Errors: RESOURCE_EXHAUSTED  no memory.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_contents_create(
    const takt_trace_t* trace, takt_trace_contents_t** out_contents);

// Adds a reference.
TAKT_EXPORT void takt_trace_contents_retain(takt_trace_contents_t* contents);

// Releases a reference; the last one frees the contents and their texts.
TAKT_EXPORT void takt_trace_contents_release(takt_trace_contents_t* contents);

// ---- Tracks and events.

typedef enum takt_trace_track_kind_t {
  TAKT_TRACE_TRACK_THREAD = 0,     // A caller's thread.
  TAKT_TRACE_TRACK_WORKER = 1,     // A worker of an executor.
  TAKT_TRACE_TRACK_CORE = 2,       // A core of a simulated board.
  TAKT_TRACE_TRACK_NPU = 3,        // An NPU: one batch at a time.
  TAKT_TRACE_TRACK_STREAM = 4,     // A stream, which releases jobs.
  TAKT_TRACE_TRACK_SCHEDULER = 5,  // The scheduler's decisions.
  TAKT_TRACE_TRACK_COUNTER = 6,    // A number over time.
  TAKT_TRACE_TRACK_PLAN = 7,       // What was planned for a resource.
} takt_trace_track_kind_t;

typedef struct takt_trace_track_t {
  takt_trace_track_kind_t kind;
  const char* name;  // Borrowed from the contents.
} takt_trace_track_t;

typedef struct takt_trace_event_t {
  const char* kind;     // Such as "dispatch"; docs/tracing.md lists the kinds.
  const char* name;     // Borrowed from the contents; "": none.
  size_t track;         // An index for takt_trace_contents_track().
  int64_t time_ns;      // On takt_clock_now_ns(), or of a simulation.
  int64_t duration_ns;  // 0 for an event without a duration.
  uint64_t id;          // The kind says what this and the rest mean.
  uint64_t parent;
  int64_t value;
  uint8_t detail;
} takt_trace_event_t;

typedef struct takt_trace_info_t {
  size_t track_count;
  size_t event_count;
  uint64_t lost_count;  // Events that were overwritten, or had no room.
  int64_t begin_ns;     // The time of the first event.
  int64_t end_ns;       // The latest end of an event.
  bool is_simulated;
} takt_trace_info_t;

// Returns the trace's totals.
TAKT_EXPORT takt_trace_info_t
takt_trace_contents_info(const takt_trace_contents_t* contents);

// Returns track `index`; zeros beyond the end.
TAKT_EXPORT takt_trace_track_t
takt_trace_contents_track(const takt_trace_contents_t* contents, size_t index);

// Returns event `index`, in the order of their times; zeros beyond the end.
TAKT_EXPORT takt_trace_event_t
takt_trace_contents_event(const takt_trace_contents_t* contents, size_t index);

// ---- Reports.

// Sums up the trace: the busy time of each track, the cost of each piece of
// work, and the jobs of each stream with their outcomes.
//
//   as_json   true: JSON; false: a table.
//   out_text  for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_contents_summarize(
    const takt_trace_contents_t* contents, bool as_json, char** out_text);

// Compares the slots of plans with the work that ran in them: how much later it
// began, and how much longer it took. Arguments as
// takt_trace_contents_summarize().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_contents_compare(
    const takt_trace_contents_t* contents, bool as_json, char** out_text);

// Explains the late jobs of each stream: what their response time was used for,
// beside what the stream's jobs usually use it for, the cause, and what would
// avoid it. Of a stream without late jobs it explains the slowest job.
//
//   job_count_max  the most jobs of one stream that are explained one by one.
//
// The other arguments are as in takt_trace_contents_summarize().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_contents_explain(
    const takt_trace_contents_t* contents, size_t job_count_max, bool as_json,
    char** out_text);

// Checks whether the trace contradicts itself: one batch at a time on an NPU,
// one operation at a time on a core, effects after their causes. The check
// shares no code with the recorder.
//
//   out_count  receives the number of faults.
//   out_text   receives a line for each of the first 20; "" if there is none.
//              For takt_string_free().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_contents_check(const takt_trace_contents_t* contents,
                          uint64_t* out_count, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_TRACE_CONTENTS_H_
