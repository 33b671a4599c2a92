// Reads traces that perfetto_writer.h wrote. The bytes may be hostile: sizes
// and nesting are checked, what is unknown is skipped, and what is read takes
// memory in proportion to the file.
#ifndef TAKT_TRACE_PERFETTO_READER_H_
#define TAKT_TRACE_PERFETTO_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/trace.h"

namespace takt::trace {

// Errors: DATA_LOSS for what is no protobuf, is cut off, or contradicts itself,
// with the offset; INVALID_ARGUMENT for a trace that is not Takt's, or of
// another version.
absl::StatusOr<Ref<Trace>> ReadPerfetto(absl::string_view bytes);

}  // namespace takt::trace

#endif  // TAKT_TRACE_PERFETTO_READER_H_
