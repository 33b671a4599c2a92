// Writes traces as Perfetto's TrackEvent protobuf: ui.perfetto.dev shows them,
// with a track for each core, NPU and stream, flows from job to invocation to
// operation to workgroups, and counters. perfetto_format.h has the format.
#ifndef TAKT_TRACE_PERFETTO_WRITER_H_
#define TAKT_TRACE_PERFETTO_WRITER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/trace.h"

namespace takt::trace {

// Gets the next bytes of the file. If it returns an error, writing ends.
using Sink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// The same trace gives the same bytes. Errors: the sink's.
absl::Status WritePerfetto(const Trace& trace, Sink sink);

}  // namespace takt::trace

#endif  // TAKT_TRACE_PERFETTO_WRITER_H_
