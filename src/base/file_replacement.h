// Replacing a file as a whole: whoever opens it sees the old content or the
// new, also after a crash, and never a part.
#ifndef TAKT_BASE_FILE_REPLACEMENT_H_
#define TAKT_BASE_FILE_REPLACEMENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace takt {

// Writes `bytes` beside `path`, to the disk, and renames the result. Errors
// name the path and the system's reason; then `path` is as it was.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes);

}  // namespace takt

#endif  // TAKT_BASE_FILE_REPLACEMENT_H_
