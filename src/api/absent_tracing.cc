// In place of traces.
#include "abi/null.h"
#include "api/handle.h"
#include "base/absent.h"
#include "takt/trace.h"

namespace takt::api {
namespace {

absl::Status Absent() { return AbsentError("traces", "TAKT_TRACING"); }

}  // namespace
}  // namespace takt::api

using takt::api::Absent;
using takt::api::ToStatus;

takt_status_t takt_tracing_start(takt_instance_t* instance,
                                 const takt_tracing_options_t* options) {
  TAKT_REQUIRE(instance);
  return ToStatus(__func__, Absent());
}

void takt_tracing_stop(takt_instance_t* instance) {}

takt_status_t takt_tracing_collect(takt_instance_t* instance,
                                   takt_trace_t** out_trace) {
  TAKT_REQUIRE(instance, out_trace);
  *out_trace = nullptr;
  return ToStatus(__func__, Absent());
}

takt_status_t takt_trace_load(const void* data, size_t byte_length,
                              takt_trace_t** out_trace) {
  TAKT_REQUIRE(Items(byte_length, data), out_trace);
  *out_trace = nullptr;
  return ToStatus(__func__, Absent());
}

takt_status_t takt_trace_load_file(const char* path, takt_trace_t** out_trace) {
  TAKT_REQUIRE(path, out_trace);
  *out_trace = nullptr;
  return ToStatus(__func__, Absent());
}

// There are no traces, so a handle is NULL.
void takt_trace_retain(takt_trace_t* trace) {}
void takt_trace_release(takt_trace_t* trace) {}

takt_status_t takt_trace_write(const takt_trace_t* trace,
                               takt_trace_format_t format,
                               takt_trace_sink_t sink, void* user_data) {
  TAKT_REQUIRE(trace, sink);
  return ToStatus(__func__, Absent());
}

takt_status_t takt_trace_write_file(const takt_trace_t* trace,
                                    takt_trace_format_t format,
                                    const char* path) {
  TAKT_REQUIRE(trace, path);
  return ToStatus(__func__, Absent());
}
