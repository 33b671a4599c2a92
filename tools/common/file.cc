#include "tools/common/file.h"

#include <cerrno>
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
  std::string contents;
  char piece[64 * 1024];
  size_t length;
  while ((length = std::fread(piece, 1, sizeof(piece), file.get())) != 0) {
    contents.append(piece, length);
  }
  if (std::ferror(file.get())) return SystemError(path, errno);
  return contents;
}

Status WriteFile(const std::string& path, std::string_view contents,
                 bool append) {
  File file(std::fopen(path.c_str(), append ? "ab" : "wb"));
  if (file == nullptr) return SystemError(path, errno);
  if (std::fwrite(contents.data(), 1, contents.size(), file.get()) !=
          contents.size() ||
      std::fflush(file.get()) != 0) {
    return SystemError(path, errno);
  }
  return Status();
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
