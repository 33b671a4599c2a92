// Files by which processes agree on something: opened by all of them, with
// single bytes that one process at a time locks. Locks belong to the open file
// (F_OFD_SETLK), so the kernel releases them when the process ends, in whatever
// way; a child of fork() that does not call exec() keeps them.
//
// Thread-safety: all may be called on any thread.
#ifndef TAKT_BASE_SHARED_FILE_H_
#define TAKT_BASE_SHARED_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"

namespace takt {

// The error of a system call, with "KIND file PATH" before the reason.
absl::Status SharedFileError(int error, absl::string_view kind,
                             const std::string& path);

// Opens the file for reading and writing, or makes it with the mode 0660 and
// the process's mask. It begins with `magic`, or is new, or was cut off, and
// then gets it. Errors: FAILED_PRECONDITION if it is no regular file, or of
// another kind, and those of opening and writing; each names `kind` and the
// path.
absl::StatusOr<UniqueFd> OpenSharedFile(absl::string_view kind,
                                        const std::string& path,
                                        uint64_t magic);

// Locks or unlocks a byte, which need not exist. False if another open file has
// locked it.
bool SetByteLock(int fd, off_t byte, bool is_locked);
// Whether another open file has locked one of the bytes. What the system does
// not answer counts as locked.
bool AreBytesLocked(int fd, off_t first, off_t count);

}  // namespace takt

#endif  // TAKT_BASE_SHARED_FILE_H_
