#include "takt/trace.h"

#include <string>
#include <utility>

#include "abi/guard.h"
#include "api/handle.h"
#include "api/trace_file.h"
#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "runtime/instance.h"
#include "trace/gantt_page.h"
#include "trace/listing.h"
#include "trace/perfetto_reader.h"
#include "trace/perfetto_writer.h"
#include "trace/trace.h"

namespace takt::api {
namespace {

// Rings that exist from the start for threads other than the workers.
constexpr uint32_t kCallersAhead = 2;

absl::Status Start(runtime::Instance* instance,
                   const takt_tracing_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_tracing_options_t given,
                        ReadOptions(options, &takt_tracing_options_init));
  Tracer::Options tracing;
  tracing.event_count_max = given.event_count_max;
  tracing.thread_count_max = given.thread_count_max;
  tracing.reserved_count = instance->worker_count() + kCallersAhead;
  return Annotate(instance->tracer()->Start(tracing), "options");
}

absl::StatusOr<Ref<trace::Trace>> Collect(runtime::Instance* instance) {
  return trace::Trace::Create(instance->tracer()->Collect(),
                              /*is_simulated=*/false);
}

absl::StatusOr<Ref<trace::Trace>> Load(const void* data, size_t byte_length) {
  return trace::ReadPerfetto({static_cast<const char*>(data), byte_length});
}

absl::StatusOr<Ref<trace::Trace>> LoadFile(const char* path) {
  TAKT_ASSIGN_OR_RETURN(const Ref<MappedFile> file,
                        MappedFile::Open(path, MappedFile::Mode::kPreload));
  absl::StatusOr<Ref<trace::Trace>> trace =
      Load(file->bytes().data(), file->bytes().size());
  if (!trace.ok()) return Annotate(trace.status(), path);
  return trace;
}

absl::Status WriteAs(const trace::Trace& trace, takt_trace_format_t format,
                     trace::Sink sink) {
  switch (format) {
    case TAKT_TRACE_FORMAT_PERFETTO:
      return trace::WritePerfetto(trace, sink);
    case TAKT_TRACE_FORMAT_TEXT:
      return trace::WriteText(trace, sink);
    case TAKT_TRACE_FORMAT_JSON:
      return trace::WriteJson(trace, sink);
    case TAKT_TRACE_FORMAT_HTML:
      return trace::WriteGanttPage(trace, sink);
  }
  return absl::InvalidArgumentError(absl::StrCat("format is ", format));
}

absl::Status Write(const trace::Trace* trace, takt_trace_format_t format,
                   takt_trace_sink_t sink, void* user_data) {
  return WriteAs(*trace, format, [&](absl::string_view bytes) {
    return sink(user_data, bytes.data(), bytes.size())
               ? absl::OkStatus()
               : absl::AbortedError("the sink returned false");
  });
}

absl::Status WriteFile(const trace::Trace* trace, takt_trace_format_t format,
                       const char* path) {
  std::string bytes;
  TAKT_RETURN_IF_ERROR(WriteAs(*trace, format, [&](absl::string_view part) {
    bytes.append(part.data(), part.size());
    return absl::OkStatus();
  }));
  return WriteFileAtomically(path, bytes);
}

}  // namespace

absl::Status WriteTraceIfOn(runtime::Instance& instance,
                            const std::string& path) {
  if (!instance.tracer()->is_on()) return absl::OkStatus();
  TAKT_ASSIGN_OR_RETURN(const Ref<trace::Trace> trace, Collect(&instance));
  return WriteFile(trace.get(), TAKT_TRACE_FORMAT_PERFETTO, path.c_str());
}

}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_tracing_start(takt_instance_t* instance,
                                 const takt_tracing_options_t* options) {
  TAKT_REQUIRE(instance);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Start(Unwrap(instance), options));
  }
  TAKT_CATCH_ALL(instance);
}

void takt_tracing_stop(takt_instance_t* instance) {
  TAKT_IGNORE_NULL(instance);
  Unwrap(instance)->tracer()->Stop();
}

takt_status_t takt_tracing_collect(takt_instance_t* instance,
                                   takt_trace_t** out_trace) {
  TAKT_REQUIRE(instance, out_trace);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Collect(Unwrap(instance)),
                           out_trace);
  }
  TAKT_CATCH_ALL(instance, out_trace);
}

takt_status_t takt_trace_load(const void* data, size_t byte_length,
                              takt_trace_t** out_trace) {
  TAKT_REQUIRE(Items(byte_length, data), out_trace);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Load(data, byte_length),
                           out_trace);
  }
  TAKT_CATCH_ALL(Items(byte_length, data), out_trace);
}

takt_status_t takt_trace_load_file(const char* path, takt_trace_t** out_trace) {
  TAKT_REQUIRE(path, out_trace);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::LoadFile(path), out_trace);
  }
  TAKT_CATCH_ALL(path, out_trace);
}

void takt_trace_retain(takt_trace_t* trace) { takt::api::RetainHandle(trace); }

void takt_trace_release(takt_trace_t* trace) {
  takt::api::ReleaseHandle(trace);
}

takt_status_t takt_trace_write(const takt_trace_t* trace,
                               takt_trace_format_t format,
                               takt_trace_sink_t sink, void* user_data) {
  TAKT_REQUIRE(trace, sink);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::Write(Unwrap(trace), format, sink, user_data));
  }
  TAKT_CATCH_ALL(trace, sink);
}

takt_status_t takt_trace_write_file(const takt_trace_t* trace,
                                    takt_trace_format_t format,
                                    const char* path) {
  TAKT_REQUIRE(trace, path);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::WriteFile(Unwrap(trace), format, path));
  }
  TAKT_CATCH_ALL(trace, path);
}
