// In place of traces.
#include "abi/guard.h"
#include "abi/null.h"
#include "api/handle.h"
#include "api/trace_file.h"
#include "base/absent.h"
#include "takt/trace.h"

namespace takt::api {
namespace {

absl::Status Absent() { return AbsentError("traces", "TAKT_TRACING"); }

}  // namespace

absl::Status WriteTraceIfOn(runtime::Instance&, const std::string&) {
  return absl::OkStatus();
}

}  // namespace takt::api

using takt::api::Absent;
using takt::api::ToStatus;

takt_status_t takt_tracing_start(takt_instance_t* instance,
                                 const takt_tracing_options_t* options) {
  TAKT_REQUIRE(instance);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance);
}

void takt_tracing_stop(takt_instance_t* instance) {}

takt_status_t takt_tracing_collect(takt_instance_t* instance,
                                   takt_trace_t** out_trace) {
  TAKT_REQUIRE(instance, out_trace);
  TAKT_TRY {
    *out_trace = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, out_trace);
}

takt_status_t takt_trace_load(const void* data, size_t byte_length,
                              takt_trace_t** out_trace) {
  TAKT_REQUIRE(Items(byte_length, data), out_trace);
  TAKT_TRY {
    *out_trace = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(Items(byte_length, data), out_trace);
}

takt_status_t takt_trace_load_file(const char* path, takt_trace_t** out_trace) {
  TAKT_REQUIRE(path, out_trace);
  TAKT_TRY {
    *out_trace = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(path, out_trace);
}

// There are no traces, so a handle is NULL.
void takt_trace_retain(takt_trace_t* trace) {}
void takt_trace_release(takt_trace_t* trace) {}

takt_status_t takt_trace_write(const takt_trace_t* trace,
                               takt_trace_format_t format,
                               takt_trace_sink_t sink, void* user_data) {
  TAKT_REQUIRE(trace, sink);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(trace, sink);
}

takt_status_t takt_trace_write_file(const takt_trace_t* trace,
                                    takt_trace_format_t format,
                                    const char* path) {
  TAKT_REQUIRE(trace, path);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(trace, path);
}
