#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/pages.h"
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
  const int access = mode == Mode::kWrite ? O_RDWR : O_RDONLY;
  // Without O_NONBLOCK the open of a FIFO waits for a process that writes to
  // it. Regular files ignore the flag.
  FileDescriptor file{open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return SystemError(path, "open");
  return Map(file.fd, path, mode);
}

absl::StatusOr<Ref<MappedFile>> MappedFile::Create(const std::string& path,
                                                   uint64_t byte_length) {
  if (byte_length > static_cast<uint64_t>(INT64_MAX)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no file has ", byte_length, " bytes"));
  }
  FileDescriptor file{
      open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return SystemError(path, "create");
  if (ftruncate(file.fd, static_cast<off_t>(byte_length)) != 0) {
    return SystemError(path, "resize");
  }
  return Map(file.fd, path, Mode::kWrite);
}

absl::StatusOr<Ref<MappedFile>> MappedFile::Map(int fd, const std::string& path,
                                                Mode mode) {
  struct stat info;
  if (fstat(fd, &info) != 0) return SystemError(path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    return Ref<MappedFile>::Adopt(new MappedFile(path, nullptr, 0));
  }
  const bool preload = mode == Mode::kPreload;
  const int protection =
      mode == Mode::kMap ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = preload ? MapPages(size)
                       : mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
  if (data == nullptr || data == MAP_FAILED) return SystemError(path, "map");
  auto result = Ref<MappedFile>::Adopt(
      new MappedFile(path, static_cast<const uint8_t*>(data), size));
  if (preload) {
    TAKT_RETURN_IF_ERROR(ReadAll(fd, path, static_cast<uint8_t*>(data), size));
  }
  return result;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) UnmapPages(const_cast<uint8_t*>(data_), size_);
}

}  // namespace takt
