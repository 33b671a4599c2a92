#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/status.h"
#include "base/unique_fd.h"

namespace takt {
namespace {

absl::Status SystemError(const std::string& path, const char* call) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", call));
}

absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
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

// The name of a file is stored with its folder. Some file systems cannot be
// asked to; the contents are whole all the same.
void SyncFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) fsync(fd.get());
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view bytes) {
  std::string name;
  absl::Status status;
  {
    const UniqueFd fd(CreateBeside(path, &name));
    if (!fd.valid()) return SystemError(path, "cannot be created");
    status = WriteAll(fd.get(), path, bytes);
    if (status.ok() && fsync(fd.get()) != 0) {
      status = SystemError(path, "fsync");
    }
  }
  if (status.ok() && std::rename(name.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "rename");
  }
  if (!status.ok()) {
    unlink(name.c_str());
    return status;
  }
  SyncFolder(path);
  return absl::OkStatus();
}

}  // namespace takt
