// takt/trace.h - what happened when: recorded, looked at, written to files.
//
// While an instance records, each of its threads keeps what it does in a ring
// of its own, of bounded size; the oldest is overwritten, and counted. A trace
// is a copy of the rings, taken while it goes on or after it has stopped; a
// recorder that never stops gives the last moments before something went
// wrong. docs/tracing.md shows how, and what an event's fields mean.
//
//   takt_tracing_start(instance, NULL);
//   ... calls, streams ...
//   takt_trace_t* trace = NULL;
//   takt_tracing_collect(instance, &trace);
//   takt_tracing_stop(instance);
//   takt_trace_write_file(trace, TAKT_TRACE_FORMAT_PERFETTO, "run.takt-trace");
//   takt_trace_release(trace);
//
// Thread-safety: every function may run on any thread; a trace is immutable.
#ifndef TAKT_TRACE_H_
#define TAKT_TRACE_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_trace_t takt_trace_t;

typedef struct takt_tracing_options_t {
  size_t struct_size;  // Set by init; how much of this the caller knows.
  // What each thread keeps: 1 to 2^24 events of 48 bytes, rounded up to a power
  // of two. Default: 32768.
  uint32_t event_count_max;
  // Threads that may record, 1 to 1024; what others do is counted as lost.
  // Default: 64.
  uint32_t thread_count_max;
} takt_tracing_options_t;

static inline void takt_tracing_options_init(takt_tracing_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->event_count_max = 32768;
  options->thread_count_max = 64;
}

// Records from now on, and forgets what was recorded before. The memory of the
// workers' rings, and of two callers', is there when this returns; that of
// other threads comes with their events, page by page. It is kept for the
// instance's life; another start with the same event_count_max uses it again.
//
// Errors: INVALID_ARGUMENT     a count of 0, or above the above.
//         FAILED_PRECONDITION  it is recorded already.
//         RESOURCE_EXHAUSTED   no memory.
// Blocks: never. Allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_tracing_start(
    takt_instance_t* instance, const takt_tracing_options_t* options);

// Stops recording. What was recorded stays, for takt_tracing_collect().
TAKT_EXPORT void takt_tracing_stop(takt_instance_t* instance);

// A copy of what is there since the start, while it goes on or afterwards.
//
//   out_trace  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  a NULL.
// Blocks: threads that record their first event meanwhile. Allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_tracing_collect(takt_instance_t* instance, takt_trace_t** out_trace);

// Reads a trace that was written as TAKT_TRACE_FORMAT_PERFETTO. The bytes may
// be hostile, and are not needed afterwards.
//
// Errors: DATA_LOSS         what is no such file, is cut off or contradicts
//                           itself, with the offset.
//         INVALID_ARGUMENT  another program's trace, or of another version.
//         NOT_FOUND         there is no such file.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_load(const void* data, size_t byte_length, takt_trace_t** out_trace);
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_load_file(const char* path, takt_trace_t** out_trace);

TAKT_EXPORT void takt_trace_retain(takt_trace_t* trace);
TAKT_EXPORT void takt_trace_release(takt_trace_t* trace);

// ---- Looking into it.

typedef enum takt_trace_track_kind_t {
  TAKT_TRACE_TRACK_THREAD = 0,     // Of a caller.
  TAKT_TRACE_TRACK_WORKER = 1,     // Of an executor.
  TAKT_TRACE_TRACK_CORE = 2,       // Of a simulated board.
  TAKT_TRACE_TRACK_NPU = 3,        // One batch at a time.
  TAKT_TRACE_TRACK_STREAM = 4,     // Releases jobs.
  TAKT_TRACE_TRACK_SCHEDULER = 5,  // Decides.
  TAKT_TRACE_TRACK_COUNTER = 6,    // Holds a number.
  TAKT_TRACE_TRACK_PLAN = 7,       // What was planned for a resource.
} takt_trace_track_kind_t;

typedef struct takt_trace_track_t {
  takt_trace_track_kind_t kind;
  const char* name;  // Borrowed from the trace.
} takt_trace_track_t;

typedef struct takt_trace_event_t {
  const char* kind;     // Such as "dispatch"; docs/tracing.md lists them.
  const char* name;     // Borrowed from the trace; "": none.
  size_t track;         // Of takt_trace_track().
  int64_t time_ns;      // Of takt_clock_now_ns(), or of a simulation.
  int64_t duration_ns;  // 0 for what happens at a moment.
  uint64_t id;          // What the rest is depends on the kind.
  uint64_t parent;
  int64_t value;
  uint8_t detail;
} takt_trace_event_t;

typedef struct takt_trace_info_t {
  size_t track_count;
  size_t event_count;
  uint64_t lost_count;  // Events that were overwritten, or had no room.
  int64_t begin_ns;     // Of the first event.
  int64_t end_ns;       // The last end of one.
  bool is_simulated;
} takt_trace_info_t;

TAKT_EXPORT takt_trace_info_t takt_trace_info(const takt_trace_t* trace);
// Zeroed beyond the end.
TAKT_EXPORT takt_trace_track_t takt_trace_track(const takt_trace_t* trace,
                                                size_t index);
// In order of their times. Zeroed beyond the end.
TAKT_EXPORT takt_trace_event_t takt_trace_event(const takt_trace_t* trace,
                                                size_t index);

// ---- Writing it.

typedef enum takt_trace_format_t {
  // Perfetto's TrackEvent protobuf: for ui.perfetto.dev, and to be loaded.
  TAKT_TRACE_FORMAT_PERFETTO = 0,
  TAKT_TRACE_FORMAT_TEXT = 1,  // A line an event.
  TAKT_TRACE_FORMAT_JSON = 2,
  TAKT_TRACE_FORMAT_HTML = 3,  // A page for a browser, in one file.
} takt_trace_format_t;

// Gets the next bytes. False ends the writing.
typedef bool (*takt_trace_sink_t)(void* user_data, const void* data,
                                  size_t byte_length);

// Writes the trace piece by piece. The same trace gives the same bytes.
//
// Errors: INVALID_ARGUMENT  a format that there is not.
//         ABORTED           the sink returned false.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_write(const takt_trace_t* trace, takt_trace_format_t format,
                 takt_trace_sink_t sink, void* user_data);
// The same to a file: all of it, or on an error nothing; a file that is there
// is replaced.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_write_file(
    const takt_trace_t* trace, takt_trace_format_t format, const char* path);

// ---- What it comes to.

// Busy time of each track, cost of each piece of work, and what became of the
// jobs of each stream; as a table, or as JSON.
//
//   out_text  for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_summarize(const takt_trace_t* trace, bool as_json, char** out_text);
// The slots of plans beside the work that ran in them: how much later it
// began, and how much longer it took.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_compare(const takt_trace_t* trace, bool as_json, char** out_text);
// Whether it can be true: one batch at a time on an NPU and one operation on a
// core, effects after their causes. Shares nothing with what records.
//
//   out_count  receives the number of faults.
//   out_text   receives a line for each of the first 20; "" if there is none.
//              For takt_string_free().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_check(
    const takt_trace_t* trace, uint64_t* out_count, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TRACE_H_
