// The trace of an instance as a file, without the C API.
#ifndef TAKT_API_TRACE_FILE_H_
#define TAKT_API_TRACE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace takt::runtime {
class Instance;
}  // namespace takt::runtime

namespace takt::api {

// Writes what the instance has recorded, for Perfetto. No effect while it
// records nothing, or in a build without tracing.
absl::Status WriteTraceIfOn(runtime::Instance& instance,
                            const std::string& path);

}  // namespace takt::api

#endif  // TAKT_API_TRACE_FILE_H_
