// Reads traces that perfetto_writer.h wrote. The bytes may be hostile: sizes
// and nesting are checked, unknown fields are skipped, and the trace takes
// memory in proportion to the file.
#ifndef TAKT_TRACE_PERFETTO_READER_H_
#define TAKT_TRACE_PERFETTO_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/trace.h"

namespace takt::trace {

// Errors: DATA_LOSS with the offset for bytes that are no protobuf, are
// truncated, or contradict each other; INVALID_ARGUMENT for a trace of another
// program or another version.
absl::StatusOr<Ref<Trace>> ReadPerfetto(absl::string_view bytes);

}  // namespace takt::trace

#endif  // TAKT_TRACE_PERFETTO_READER_H_
