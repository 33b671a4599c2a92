#include "base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/math.h"
#include "base/status.h"

namespace takt {
namespace {

constexpr uint64_t kPageBytes = 4096;

// The length of what `fd` stands for. A dmabuf has no size in stat, but an end.
absl::StatusOr<uint64_t> LengthOf(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("file descriptor ", fd, ": ",
                     absl::ErrnoToStatus(errno, "").message()));
  }
  if (info.st_size > 0) return static_cast<uint64_t>(info.st_size);
  const off_t end = lseek(fd, 0, SEEK_END);
  return end > 0 ? static_cast<uint64_t>(end) : 0;
}

}  // namespace

absl::StatusOr<Ref<SharedMemory>> SharedMemory::Create(uint64_t byte_length) {
  if (byte_length == 0) {
    return absl::InvalidArgumentError("shared memory of 0 bytes");
  }
  const int fd = memfd_create("takt", MFD_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot make a memfd");
  if (byte_length > static_cast<uint64_t>(INT64_MAX) ||
      ftruncate(fd, static_cast<off_t>(byte_length)) != 0) {
    close(fd);
    return absl::ResourceExhaustedError(
        absl::StrCat("the system has no ", byte_length, " bytes to share"));
  }
  return Map(fd, 0, byte_length, /*is_writable=*/true);
}

absl::StatusOr<Ref<SharedMemory>> SharedMemory::Import(int fd, uint64_t offset,
                                                       uint64_t byte_length,
                                                       bool is_writable) {
  if (byte_length == 0) {
    return absl::InvalidArgumentError("a range of 0 bytes cannot be mapped");
  }
  if (offset % kPageBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("offset ", offset, " is no multiple of ", kPageBytes,
                     " and cannot be imported without a copy"));
  }
  TAKT_ASSIGN_OR_RETURN(const uint64_t file_length, LengthOf(fd));
  if (!RangeFits(offset, byte_length, file_length)) {
    return absl::OutOfRangeError(
        absl::StrCat("range of ", byte_length, " bytes at ", offset,
                     " is not in memory of ", file_length, " bytes"));
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return absl::ErrnoToStatus(errno, "cannot duplicate");
  return Map(own, offset, byte_length, is_writable);
}

absl::StatusOr<Ref<SharedMemory>> SharedMemory::Map(int fd, uint64_t offset,
                                                    uint64_t byte_length,
                                                    bool is_writable) {
  const int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, byte_length, protection, MAP_SHARED, fd,
                    static_cast<off_t>(offset));
  if (data != MAP_FAILED) {
    return Ref<SharedMemory>::Adopt(
        new SharedMemory(fd, offset, static_cast<uint8_t*>(data), byte_length));
  }
  const int error = errno;
  close(fd);
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat("the file descriptor does not allow to be ",
                     is_writable ? "written" : "read", " in place"));
  }
  if (error == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no room to map ", byte_length, " bytes"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the file descriptor cannot be imported without a copy: ",
      absl::ErrnoToStatus(error, "it cannot be mapped").message()));
}

absl::StatusOr<int> SharedMemory::DuplicateFd() const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot duplicate");
  return fd;
}

SharedMemory::~SharedMemory() {
  munmap(data_, byte_length_);
  close(fd_);
}

}  // namespace takt
