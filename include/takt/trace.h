// takt/trace.h - traces: what an instance did, and when.
//
// While an instance records, each of its threads writes events into a ring
// buffer of its own, of bounded size. A full ring overwrites its oldest events
// and counts them. A trace is a copy of the rings, made during the recording or
// after it. A program that always records can collect the last moments before a
// failure. docs/tracing.md says what the events mean.
//
//   takt_tracing_start(instance, NULL);
//   ... calls, streams ...
//   takt_trace_t* trace = NULL;
//   takt_tracing_collect(instance, &trace);
//   takt_tracing_stop(instance);
//   takt_trace_write_file(trace, TAKT_TRACE_FORMAT_PERFETTO, "run.takt-trace");
//   takt_trace_release(trace);
//
// takt/tools/trace_contents.h reads the events of a trace.
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
  size_t struct_size;  // Set by init.
  // Events that each thread keeps: 1 to 2^24, of 48 bytes each, rounded up to a
  // power of two. Default: 32768.
  uint32_t event_count_max;
  // Threads that may record: 1 to 1024. Events of further threads are counted
  // as lost. Default: 64.
  uint32_t thread_count_max;
} takt_tracing_options_t;

static inline void takt_tracing_options_init(takt_tracing_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->event_count_max = 32768;
  options->thread_count_max = 64;
}

// Starts recording, and discards what was recorded before. When the function
// returns, the rings of the workers and of two callers have their memory; the
// rings of other threads take theirs with their first events. The memory is
// kept as long as the instance lives; another start with the same
// event_count_max uses it again.
//
//   options  NULL for the defaults.
//
// Errors: INVALID_ARGUMENT     a count of 0, or above its maximum.
//         FAILED_PRECONDITION  the instance is recording already.
//         RESOURCE_EXHAUSTED   no memory.
// Blocks: never. Allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_tracing_start(
    takt_instance_t* instance, const takt_tracing_options_t* options);

// Stops recording. The recorded events stay for takt_tracing_collect().
TAKT_EXPORT void takt_tracing_stop(takt_instance_t* instance);

// Copies the events that were recorded since the start, during the recording or
// after it.
//
//   out_trace  receives one reference; NULL on error.
//
// Blocks: the threads that record their first event meanwhile. Allocates.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_tracing_collect(takt_instance_t* instance, takt_trace_t** out_trace);

// Reads a trace that was written as TAKT_TRACE_FORMAT_PERFETTO. The bytes may
// be hostile; they are copied.
//
//   out_trace  receives one reference; NULL on error.
//
// Errors: DATA_LOSS         not a trace, cut off, or contradicting itself; the
//                           message has the offset.
//         INVALID_ARGUMENT  a trace of another program or version.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_load(const void* data, size_t byte_length, takt_trace_t** out_trace);

// Reads a trace from a file, as takt_trace_load() does.
//
// Errors: NOT_FOUND  no such file; and as takt_trace_load().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_load_file(const char* path, takt_trace_t** out_trace);

// Adds a reference.
TAKT_EXPORT void takt_trace_retain(takt_trace_t* trace);

// Releases a reference; the last one frees the trace.
TAKT_EXPORT void takt_trace_release(takt_trace_t* trace);

typedef enum takt_trace_format_t {
  // Perfetto's TrackEvent protobuf, which ui.perfetto.dev and
  // takt_trace_load() read.
  TAKT_TRACE_FORMAT_PERFETTO = 0,
  TAKT_TRACE_FORMAT_TEXT = 1,  // One line for each event.
  TAKT_TRACE_FORMAT_JSON = 2,
  TAKT_TRACE_FORMAT_HTML = 3,  // A page for a browser, in one file.
} takt_trace_format_t;

// Receives the next bytes, which are borrowed. Returns false to end the
// writing.
typedef bool (*takt_trace_sink_t)(void* user_data, const void* data,
                                  size_t byte_length);

// Writes the trace piece by piece to `sink`, on the calling thread. The same
// trace gives the same bytes.
//
// Errors: INVALID_ARGUMENT  `format` is not a format.
//         ABORTED           the sink returned false.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_trace_write(const takt_trace_t* trace, takt_trace_format_t format,
                 takt_trace_sink_t sink, void* user_data);

// Writes the trace to a file: all of it, or on an error nothing. An existing
// file is replaced.
//
// Errors: PERMISSION_DENIED, NOT_FOUND  the file cannot be written.
//         INVALID_ARGUMENT              `format` is not a format.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_trace_write_file(
    const takt_trace_t* trace, takt_trace_format_t format, const char* path);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TRACE_H_
