#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/status.h"

namespace takt {
namespace {

absl::Status SystemError(const std::string& path, absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot ", what));
}

// Reads exactly `size` bytes.
absl::Status ReadAll(int fd, const std::string& path, uint8_t* data,
                     size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = read(fd, data + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, "read");
    if (n == 0) {
      return absl::DataLossError(
          absl::StrCat(path, ": ends at byte ", done, " of ", size));
    }
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

absl::StatusOr<Ref<MappedFile>> MappedFile::Open(const std::string& path,
                                                 Mode mode) {
  FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return SystemError(path, "open");
  struct stat info;
  if (fstat(file.fd, &info) != 0) return SystemError(path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    return Ref<MappedFile>::Adopt(new MappedFile(path, nullptr, 0));
  }
  const bool preload = mode == Mode::kPreload;
  void* data = preload ? mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
  if (data == MAP_FAILED) return SystemError(path, "map");
  auto result = Ref<MappedFile>::Adopt(
      new MappedFile(path, static_cast<const uint8_t*>(data), size));
  if (preload) {
    TAKT_RETURN_IF_ERROR(
        ReadAll(file.fd, path, static_cast<uint8_t*>(data), size));
  }
  return result;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace takt
