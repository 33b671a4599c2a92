#include "tools/common/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace takt::tools {
namespace {

struct Closer {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, Closer>;

// Some devices have no end: /dev/zero.
constexpr size_t kDeviceBytesMax = 64 << 20;

bool IsDevice(std::FILE* file) {
  struct stat about;
  return fstat(fileno(file), &about) == 0 && S_ISCHR(about.st_mode);
}

Status SystemError(const std::string& path, int error) {
  takt_status_code_t code = TAKT_STATUS_UNAVAILABLE;
  if (error == ENOENT || error == ENOTDIR) code = TAKT_STATUS_NOT_FOUND;
  if (error == EACCES || error == EPERM) code = TAKT_STATUS_PERMISSION_DENIED;
  return Status(code, path + ": " + std::strerror(error));
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return SystemError(path, errno);
  const size_t byte_count_max =
      IsDevice(file.get()) ? kDeviceBytesMax : SIZE_MAX;
  std::string contents;
  char piece[64 * 1024];
  size_t length;
  while ((length = std::fread(piece, 1, sizeof(piece), file.get())) != 0) {
    contents.append(piece, length);
    if (contents.size() > byte_count_max) {
      return InvalidArgument(path + ": a device with more than " +
                             std::to_string(byte_count_max) + " bytes");
    }
  }
  if (std::ferror(file.get())) return SystemError(path, errno);
  return contents;
}

Status WriteFile(const std::string& path, std::string_view contents,
                 bool append) {
  const bool is_stdout = path == OutputPath("-");
  std::FILE* const file =
      is_stdout ? stdout : std::fopen(path.c_str(), append ? "ab" : "wb");
  if (file == nullptr) return SystemError(path, errno);
  const bool is_written = std::fwrite(contents.data(), 1, contents.size(),
                                      file) == contents.size() &&
                          std::fflush(file) == 0;
  int error = errno;
  // Some file systems report a full disk only when the file is closed.
  if (!is_stdout && std::fclose(file) != 0 && is_written) {
    error = errno;
    return SystemError(path, error);
  }
  return is_written ? Status() : SystemError(path, error);
}

Status CheckWritable(const std::string& path) {
  if (path == "-" || access(path.c_str(), W_OK) == 0) return Status();
  if (errno != ENOENT) return SystemError(path, errno);
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) == 0) return Status();
  return SystemError(path, errno);
}

Status AsWritten(Status status) {
  const takt_status_code_t code = status.code();
  if (code != TAKT_STATUS_FAILED_PRECONDITION &&
      code != TAKT_STATUS_RESOURCE_EXHAUSTED) {
    return status;
  }
  return Status(TAKT_STATUS_UNAVAILABLE, std::string(status.message()));
}

std::string LibraryPath(const std::string& path) {
  const bool is_here =
      path.find('/') == std::string::npos && access(path.c_str(), F_OK) == 0;
  return is_here ? "./" + path : path;
}

std::string OutputPath(const std::string& path) {
  if (path != "-") return path;
  std::fflush(stdout);
  return "/dev/stdout";
}

Result<InputFiles::Cursor*> InputFiles::Open(const std::string& path,
                                             bool rewind) {
  auto found = files_.find(path);
  if (found == files_.end()) {
    if (!reads_disk_) return SystemError(path, ENOENT);
    TAKT_TOOLS_ASSIGN_OR_RETURN(std::string contents, ReadFile(path));
    found = files_.emplace(path, Cursor{std::move(contents), 0}).first;
  }
  if (rewind) found->second.offset = 0;
  return &found->second;
}

}  // namespace takt::tools
