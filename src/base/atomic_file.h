// Files that are replaced as a whole: after a crash at any moment there is the
// old one or the new one, never a part.
#ifndef TAKT_BASE_ATOMIC_FILE_H_
#define TAKT_BASE_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace takt {

// Writes a temporary file in the same folder, has the system store it, and
// renames it to `path`. Errors name the path and the system's reason; then the
// old file is as it was, and the temporary one is gone.
//
// Blocks: until the disk has it. Thread-safety: any; of two calls for one path
// the later one wins.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes);

}  // namespace takt

#endif  // TAKT_BASE_ATOMIC_FILE_H_
