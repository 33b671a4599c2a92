#include "base/file_replacement.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"

namespace takt {
namespace {

absl::Status SystemError(const std::string& path, absl::string_view what) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": ", what));
}

absl::Status WriteAll(int fd, absl::string_view bytes,
                      const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(path, "cannot be written");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(fd) != 0) return SystemError(path, "cannot be written");
  return absl::OkStatus();
}

// A new file beside `path`, whose name is in *beside. Not mkstemp(), which
// would not leave the mode to the user's mask.
int CreateBeside(const std::string& path, std::string* beside) {
  constexpr int kTriesMax = 1000;  // Some were left by processes that died.
  int fd = -1;
  for (int i = 0; fd < 0 && i < kTriesMax; ++i) {
    *beside = absl::StrCat(path, ".", getpid(), ".", i);
    fd = open(beside->c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, absl::string_view bytes) {
  std::string beside;
  const UniqueFd fd(CreateBeside(path, &beside));
  if (!fd.valid()) return SystemError(path, "cannot be created");
  absl::Status status = WriteAll(fd.get(), bytes, path);
  if (status.ok() && std::rename(beside.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "cannot be replaced");
  }
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

}  // namespace takt
