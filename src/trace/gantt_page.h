// Writes a trace as a page for a browser: one file that loads no other. It has
// a row for each track, and tables of response times, busy shares and work.
//
// gantt_page.html, .css and .js are its sources; gantt_page.cmake puts them
// into a header. The whole trace is in the page, in some 16 bytes an event.
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
