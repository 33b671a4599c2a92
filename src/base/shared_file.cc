#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace takt {
namespace {

// No file of this kind is longer.
constexpr off_t kSizeMax = 1 << 16;

struct flock LockOf(off_t first, off_t count, bool is_locked) {
  struct flock lock;
  std::memset(&lock, 0, sizeof(lock));
  lock.l_type = is_locked ? F_WRLCK : F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return lock;
}

}  // namespace

absl::Status SharedFileError(int error, absl::string_view kind,
                             const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat(kind, " file ", path));
}

absl::StatusOr<UniqueFd> OpenSharedFile(absl::string_view kind,
                                        const std::string& path,
                                        uint64_t magic) {
  UniqueFd file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0660));
  if (!file.valid()) return SharedFileError(errno, kind, path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) {
    return SharedFileError(errno, kind, path);
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(kind, " file ", path, ": not a regular file"));
  }
  uint64_t found = 0;
  if (pread(file.get(), &found, sizeof(found), 0) < 0) {
    return SharedFileError(errno, kind, path);
  }
  // A longer file that begins with zeros has other data.
  if (found != magic && (found != 0 || status.st_size > kSizeMax)) {
    return absl::FailedPreconditionError(
        absl::StrCat(kind, " file ", path,
                     ": it is of another kind or version, or damaged; "
                     "a damaged one can be deleted once no process uses it"));
  }
  if (pwrite(file.get(), &magic, sizeof(magic), 0) !=
      static_cast<ssize_t>(sizeof(magic))) {
    return SharedFileError(errno, kind, path);
  }
  return file;
}

bool SetByteLock(int fd, off_t byte, bool is_locked) {
  struct flock lock = LockOf(byte, 1, is_locked);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool AreBytesLocked(int fd, off_t first, off_t count) {
  struct flock lock = LockOf(first, count, /*is_locked=*/true);
  return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace takt
