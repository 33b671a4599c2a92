#include "base/atomic_file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/unique_fd.h"

namespace takt {
namespace {

constexpr int kLinksMax = 40;  // As many as the system follows.

absl::Status SystemError(const std::string& path, const char* call) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", call));
}

// While it is alive, writing to a pipe without a reader is an error on this
// thread and no signal.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &old_mask_);
  }
  ~SigpipeBlock() {
    const timespec now = {};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t old_mask_;
  bool was_pending_;
};

absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {  // It was opened as non-blocking.
      pollfd room = {fd, POLLOUT, 0};
      poll(&room, 1, -1);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// close() reports what some file systems notice only then.
absl::Status Close(UniqueFd fd, const std::string& path) {
  if (close(fd.release()) == 0 || errno == EINTR) return absl::OkStatus();
  return SystemError(path, "close");
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// What a path leads to.
struct Target {
  std::string path;  // Behind all links.
  bool is_magic;     // A link of /proc, whose text is no path.
  int own_fd;        // The descriptor of this process that it is, or -1.
  bool exists;
  struct stat info;
};

// Whether `link` is one of /proc, such as /proc/self/fd/1. *own_fd is the
// descriptor if it is one of this process.
bool IsMagicLink(const std::string& link, int* own_fd) {
  char folder[PATH_MAX];
  if (realpath(FolderOf(link).c_str(), folder) == nullptr) return false;
  if (!absl::StartsWith(folder, "/proc/")) return false;
  const std::string own = absl::StrCat("/proc/", getpid(), "/");
  int fd;
  if (absl::StartsWith(folder, own) && absl::EndsWith(folder, "/fd") &&
      absl::SimpleAtoi(link.substr(link.rfind('/') + 1), &fd)) {
    *own_fd = fd;
  }
  return true;
}

absl::StatusOr<Target> FindTarget(const std::string& path) {
  Target target = {path, false, -1, true, {}};
  for (int i = 0; i < kLinksMax; ++i) {
    if (lstat(target.path.c_str(), &target.info) != 0) {
      if (errno != ENOENT) return SystemError(path, "stat");
      target.exists = false;
      return target;
    }
    if (!S_ISLNK(target.info.st_mode)) return target;
    if (IsMagicLink(target.path, &target.own_fd)) {
      target.is_magic = true;
      if (stat(target.path.c_str(), &target.info) == 0) return target;
      return SystemError(path, "stat");
    }
    char text[PATH_MAX];
    const ssize_t length = readlink(target.path.c_str(), text, sizeof(text));
    if (length < 0) return SystemError(path, "readlink");
    const std::string next(text, static_cast<size_t>(length));
    target.path = absl::StartsWith(next, "/")
                      ? next
                      : absl::StrCat(FolderOf(target.path), "/", next);
  }
  errno = ELOOP;
  return SystemError(path, "stat");
}

absl::Status WriteInPlace(const Target& target, const std::string& path,
                          absl::string_view bytes) {
  const bool is_file = S_ISREG(target.info.st_mode);
  const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | (is_file ? O_TRUNC : 0);
  UniqueFd fd(target.own_fd >= 0 ? fcntl(target.own_fd, F_DUPFD_CLOEXEC, 0)
                                 : open(target.path.c_str(), flags));
  if (!fd.valid()) return SystemError(path, "cannot be opened");
  {
    const SigpipeBlock block;
    TAKT_RETURN_IF_ERROR(WriteAll(fd.get(), path, bytes));
  }
  if (is_file && fsync(fd.get()) != 0) return SystemError(path, "fsync");
  return Close(std::move(fd), path);
}

// A new file beside `path`, whose name is in *name. Not mkstemp(), which would
// not leave the mode to the user's mask.
int CreateBeside(const std::string& path, std::string* name) {
  constexpr int kTriesMax = 1000;  // Some were left by processes that died.
  int fd = -1;
  for (int i = 0; fd < 0 && i < kTriesMax; ++i) {
    *name = absl::StrCat(path, ".", getpid(), ".", i);
    fd = open(name->c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

// Gives the new file what the old one has. False, with errno, if the system
// does not allow it.
bool KeepOwnerAndMode(int fd, const struct stat& old) {
  struct stat now;
  if (fstat(fd, &now) != 0) return false;
  const bool has_owner = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
  // The mode last: a change of owner takes bits out of it.
  return (has_owner || fchown(fd, old.st_uid, old.st_gid) == 0) &&
         fchmod(fd, old.st_mode & 07777) == 0;
}

// The name of a file is stored with its folder. Some file systems cannot be
// asked to; the contents are whole all the same.
void SyncFolder(const std::string& path) {
  const UniqueFd fd(
      open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) fsync(fd.get());
}

// Writes the temporary file `fd` of that name and renames it.
absl::Status Replace(UniqueFd fd, const std::string& name, const Target& target,
                     const std::string& path, absl::string_view bytes) {
  if (target.exists && !KeepOwnerAndMode(fd.get(), target.info)) {
    return SystemError(path, "owner and mode");
  }
  TAKT_RETURN_IF_ERROR(WriteAll(fd.get(), path, bytes));
  if (fsync(fd.get()) != 0) return SystemError(path, "fsync");
  TAKT_RETURN_IF_ERROR(Close(std::move(fd), path));
  if (std::rename(name.c_str(), target.path.c_str()) != 0) {
    return SystemError(path, "rename");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes) {
  TAKT_ASSIGN_OR_RETURN(const Target target, FindTarget(path));
  if (target.exists && (target.is_magic || !S_ISREG(target.info.st_mode))) {
    return WriteInPlace(target, path, bytes);
  }
  if (target.exists &&
      faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) {
    return SystemError(path, "cannot be written");
  }
  std::string name;
  UniqueFd fd(CreateBeside(target.path, &name));
  absl::Status status;
  if (!fd.valid()) {
    status = SystemError(path, "cannot be created");
  } else {
    status = Replace(std::move(fd), name, target, path, bytes);
    if (!status.ok()) unlink(name.c_str());
  }
  // The file may be written, but not be replaced.
  if (target.exists && absl::IsPermissionDenied(status)) {
    return WriteInPlace(target, path, bytes);
  }
  if (status.ok()) SyncFolder(target.path);
  return status;
}

}  // namespace takt
