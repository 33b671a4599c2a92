// Writes a trace as text, a line for each event, or as JSON.
#ifndef TAKT_TRACE_LISTING_H_
#define TAKT_TRACE_LISTING_H_

#include <string>

#include "absl/status/status.h"
#include "trace/perfetto_writer.h"
#include "trace/trace.h"

namespace takt::trace {

// The fields of an event besides its time and name: "tiles 0 to 8 id 5 of 2".
std::string DescribeEvent(const Trace& trace, const Event& event);

// Errors: the sink's.
absl::Status WriteText(const Trace& trace, Sink sink);

// {"begin_ns": .., "end_ns": .., "lost": .., "simulated": ..,
//  "tracks": [{"kind": .., "name": ..}],
//  "events": [{"t": .., "ns": .., "kind": .., "track": .., "name": ..,
//              "id": .., "of": .., "value": .., "detail": ..}]}
// Times are in ns. Members of an event that are 0 or empty are left out, except
// `t` and `track`. Errors: the sink's.
absl::Status WriteJson(const Trace& trace, Sink sink);

}  // namespace takt::trace

#endif  // TAKT_TRACE_LISTING_H_
