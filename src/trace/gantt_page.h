// A trace as a page for a browser: one file that needs nothing else, with a row
// for each track, to be zoomed into and asked what each bar is.
#ifndef TAKT_TRACE_GANTT_PAGE_H_
#define TAKT_TRACE_GANTT_PAGE_H_

#include "absl/status/status.h"
#include "trace/perfetto_writer.h"
#include "trace/trace.h"

namespace takt::trace {

// Errors: the sink's.
absl::Status WriteGanttPage(const Trace& trace, Sink sink);

}  // namespace takt::trace

#endif  // TAKT_TRACE_GANTT_PAGE_H_
