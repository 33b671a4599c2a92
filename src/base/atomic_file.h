// Files that are replaced as a whole: after a crash at any moment there is the
// old one or the new one, never a part.
#ifndef TAKT_BASE_ATOMIC_FILE_H_
#define TAKT_BASE_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace takt {

// Makes `bytes` the contents of the file at `path`. Symbolic links are
// followed: the file that they lead to changes, the links stay.
//
// A regular file, or none: writes a temporary file in the same folder, has the
// system store it, and renames it. The file keeps its mode, owner and group; a
// new one has what the user's mask leaves. The bytes are written in place, and
// a crash can leave a part of them, where the system allows no such
// replacement: the folder takes no new files, or only another user may give
// the new file its owner. Other names of the file (hard links) keep the old
// contents.
//
// A FIFO, a terminal, /dev/null or the like is opened and gets the bytes; it is
// never replaced. A path that leads to a descriptor of this process
// (/dev/stdout, /dev/fd/3) stands for that descriptor, and the bytes go where
// it is; what stdio holds back for it comes later.
//
// Errors name the path, the step and the system's reason. A regular file that
// was to be replaced is then as it was, and the temporary one is gone.
// PERMISSION_DENIED also for a file that the user may not write; UNAVAILABLE
// or the like for a pipe without a reader, for which no SIGPIPE is sent.
//
// Blocks: until the disk has it; on a FIFO or pipe, until it is read.
// Thread-safety: any; of two calls for one path the later one wins.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes);

}  // namespace takt

#endif  // TAKT_BASE_ATOMIC_FILE_H_
