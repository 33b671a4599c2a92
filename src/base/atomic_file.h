// Files that are replaced as a whole: after a crash at any moment the path
// leads to the whole old file or the whole new file.
#ifndef TAKT_BASE_ATOMIC_FILE_H_
#define TAKT_BASE_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace takt {

// Makes `bytes` the contents of the file at `path`. Symbolic links are
// followed: the file that they lead to changes, the links stay.
//
// A regular file, or a path without a file: the function writes a temporary
// file in the same folder, has the system store it, and renames it. The file
// keeps its mode, owner and group; a new file has a mode by the user's mask. If
// the system does not allow this (the folder accepts no new files, or only
// another user may give the new file its owner), the bytes are written in
// place, and a crash can leave a part of them. Other names of the file (hard
// links) keep the old contents.
//
// A FIFO, a terminal, /dev/null or the like: the function opens it and writes
// the bytes to it; it is never replaced. A path that leads to a descriptor of
// this process (/dev/stdout, /dev/fd/3) stands for that descriptor: the bytes
// go to its present position, before bytes that stdio still buffers.
//
// Errors name the path, the step and the system's reason. A regular file is
// then unchanged, and the temporary file is removed. PERMISSION_DENIED also for
// a file that the user may not write. A pipe without a reader is UNAVAILABLE or
// a similar error; no SIGPIPE is sent.
//
// Blocks: until the disk has stored the bytes; on a FIFO or pipe, until they
// are read. Thread-safety: may run on any thread; of two calls for one path the
// later one determines the contents.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes);

}  // namespace takt

#endif  // TAKT_BASE_ATOMIC_FILE_H_
