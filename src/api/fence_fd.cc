#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "abi/guard.h"
#include "api/handle.h"
#include "base/exceptions.h"
#include "base/fd_poller.h"
#include "base/unique_fd.h"
#include "hal/fence.h"
#include "runtime/instance.h"
#include "takt/fence.h"

namespace takt::api {
namespace {

absl::Status NoFd() {
  return absl::ResourceExhaustedError(
      absl::StrCat("a file descriptor for a fence: ", std::strerror(errno)));
}

void WriteOutcome(const UniqueFd& fd, const absl::Status& status) {
  const uint64_t value =
      status.ok() ? TAKT_FENCE_FD_REACHED : TAKT_FENCE_FD_FAILED;
  // This fails only if the counter is full, and then the file is readable.
  const ssize_t written = write(fd.get(), &value, sizeof(value));
  static_cast<void>(written);
}

absl::StatusOr<int> ExportFd(const hal::Fence* fence) {
  UniqueFd given(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!given.valid()) return NoFd();
  if (fence == nullptr) {
    WriteOutcome(given, absl::OkStatus());
    return given.release();
  }
  // A descriptor of our own: the caller may close the other one.
  UniqueFd ours(fcntl(given.get(), F_DUPFD_CLOEXEC, 0));
  if (!ours.valid()) return NoFd();
  fence->OnReached([ours = std::move(ours)](const absl::Status& status) {
    WriteOutcome(ours, status);
  });
  return given.release();
}

absl::StatusOr<FdPoller::Readiness> ReadinessOf(takt_fence_fd_event_t event) {
  switch (event) {
    case TAKT_FENCE_FD_READABLE:
      return FdPoller::Readiness::kReadable;
    case TAKT_FENCE_FD_WRITABLE:
      return FdPoller::Readiness::kWritable;
  }
  return absl::InvalidArgumentError(absl::StrCat("event ", event, " is none"));
}

absl::StatusOr<Ref<hal::Fence>> ImportFd(takt_instance_t* instance, int fd,
                                         takt_fence_fd_event_t event) {
  TAKT_ASSIGN_OR_RETURN(const FdPoller::Readiness watched, ReadinessOf(event));
  TAKT_ASSIGN_OR_RETURN(const std::shared_ptr<FdPoller> poller,
                        Unwrap(instance)->GetFdPoller());
  const Ref<hal::Fence> fence = hal::Fence::Create();
  fence->SetSignaller(
      hal::Signaller::Create(absl::StrCat("file descriptor ", fd)));
  TAKT_ASSIGN_OR_RETURN(
      const uint64_t id,
      poller->Watch(fd, watched, [fence](const absl::Status& status) {
        fence->Settle(status);
      }));
  // The watch also ends when the fence is signaled or failed by others.
  TAKT_TRY {
    fence->OnReached(
        [id, watching = std::weak_ptr<FdPoller>(poller)](const absl::Status&) {
          if (const auto still = watching.lock()) still->Cancel(id);
        });
  }
  TAKT_CATCH(const std::bad_alloc&) {
    poller->Cancel(id);
    return OutOfMemory();
  }
  return fence;
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_fence_export_fd(takt_fence_t* fence, int* out_fd) {
  TAKT_REQUIRE(out_fd);
  TAKT_TRY {
    absl::StatusOr<int> fd = takt::api::ExportFd(
        fence != nullptr ? takt::api::Unwrap(fence) : nullptr);
    *out_fd = fd.ok() ? *fd : -1;
    return takt::api::ToStatus(__func__, fd.status());
  }
  TAKT_CATCH_ALL(out_fd);
}

takt_status_t takt_fence_import_fd(takt_instance_t* instance, int fd,
                                   takt_fence_fd_event_t event,
                                   takt_fence_t** out_fence) {
  TAKT_REQUIRE(instance, out_fence);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::ImportFd(instance, fd, event),
                           out_fence);
  }
  TAKT_CATCH_ALL(instance, out_fence);
}
