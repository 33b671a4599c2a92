#include "base/fd_poller.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash_map.h"
#include "base/lean_error.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/thread_latency.h"
#include "base/unique_fd.h"

namespace takt {
namespace {

constexpr uint64_t kWakeId = 0;  // The descriptor that wakes the thread.

// The status for an `errno` of a descriptor that the caller gave.
absl::Status FdError(int fd, int error) {
  const std::string text =
      absl::StrCat("file descriptor ", fd, ": ",
                   error == EPERM ? "cannot be polled, as a file on disk cannot"
                                  : std::strerror(error));
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InvalidArgumentError(text);
  }
}

uint32_t EpollEvents(FdPoller::Readiness wanted) {
  return wanted == FdPoller::Readiness::kReadable ? EPOLLIN : EPOLLOUT;
}

// Whether an EPOLLERR is an error of the descriptor. On a socket it may also
// mean that a message about earlier packets can be read.
bool HasError(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return true;
  return error != 0;
}

}  // namespace

struct FdPoller::Shared {
  struct Entry {
    UniqueFd fd;  // The duplicate.
    int given_fd = -1;
    uint32_t wanted = 0;
    Callback callback;
  };

  // Removes the entry. False if there is none.
  bool Take(uint64_t id, Entry* entry) ABSL_LOCKS_EXCLUDED(mutex);
  void Dispatch(const epoll_event& event);

  UniqueFd epoll;
  UniqueFd wake;
  Mutex mutex;
  HashMap<uint64_t, Entry> entries ABSL_GUARDED_BY(mutex);
  uint64_t next_id ABSL_GUARDED_BY(mutex) = kWakeId + 1;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  pthread_t runner ABSL_GUARDED_BY(mutex) = {};  // If has_runner.
  bool has_runner ABSL_GUARDED_BY(mutex) = false;
};

bool FdPoller::Shared::Take(uint64_t id, Entry* entry) {
  MutexLock lock(&mutex);
  const auto found = entries.find(id);
  if (found == entries.end()) return false;
  *entry = std::move(found->second);
  entries.erase(found);
  // Under the lock, so that no Watch() is between its two steps. It is not
  // enough to close the duplicate: epoll watches the open file behind it.
  epoll_ctl(epoll.get(), EPOLL_CTL_DEL, entry->fd.get(), nullptr);
  return true;
}

void FdPoller::Shared::Dispatch(const epoll_event& event) {
  Entry entry;
  if (!Take(event.data.u64, &entry)) return;  // Cancelled meanwhile.
  absl::Status status;
  if ((event.events & EPOLLERR) != 0 && HasError(entry.fd.get())) {
    status = LeanError(absl::StatusCode::kAborted, [&] {
      return absl::StrCat("file descriptor ", entry.given_fd, " has an error");
    });
  } else if ((event.events & entry.wanted) == 0) {
    status = LeanError(absl::StatusCode::kAborted, [&] {
      return absl::StrCat("file descriptor ", entry.given_fd, " was hung up");
    });
  }
  std::move(entry.callback)(status);
}

absl::StatusOr<std::unique_ptr<FdPoller>> FdPoller::Create(
    const Options& options) {
  auto shared = std::make_shared<Shared>();
  shared->epoll = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  shared->wake = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kWakeId;
  if (!shared->epoll.valid() || !shared->wake.valid() ||
      epoll_ctl(shared->epoll.get(), EPOLL_CTL_ADD, shared->wake.get(),
                &event) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a poller of file descriptors: ", std::strerror(errno)));
  }
  std::unique_ptr<FdPoller> poller(new FdPoller(std::move(shared)));
  if (options.has_no_thread) return poller;
  auto* argument = new std::shared_ptr<Shared>(poller->shared_);
  const absl::Status status =
      poller->thread_->Start({.name = "takt-poll",
                              .reports_faults = options.reports_faults,
                              .hooks = options.hooks},
                             &ThreadMain, argument);
  if (status.ok()) return poller;
  delete argument;
  // The application has decided to provide no such thread.
  if (options.hooks.create != nullptr) return poller;
  return Annotate(status, "a poller of file descriptors");
}

FdPoller::FdPoller(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)) {}

FdPoller::~FdPoller() {
  HashMap<uint64_t, Shared::Entry> left;
  {
    MutexLock lock(&shared_->mutex);
    TAKT_CHECK(!shared_->stopping);
    shared_->stopping = true;
    left.swap(shared_->entries);
  }
  const uint64_t one = 1;
  TAKT_CHECK(write(shared_->wake.get(), &one, sizeof(one)) == sizeof(one));
  if (thread_->is_started()) {
    bool is_this_thread = false;
    {
      MutexLock lock(&shared_->mutex);
      is_this_thread = shared_->has_runner &&
                       pthread_equal(shared_->runner, pthread_self()) != 0;
    }
    if (is_this_thread) {
      thread_->Detach();
    } else {
      thread_->Join();
    }
  }
  for (auto& [id, entry] : left) {
    std::move(entry.callback)(LeanError(absl::StatusCode::kCancelled, [] {
      return "the instance that watched the file descriptor is gone";
    }));
  }
}

absl::StatusOr<uint64_t> FdPoller::Watch(int fd, Readiness wanted,
                                         Callback callback) {
  Shared::Entry entry;
  entry.fd = UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!entry.fd.valid()) return FdError(fd, errno);
  entry.given_fd = fd;
  entry.wanted = EpollEvents(wanted);
  entry.callback = std::move(callback);

  MutexLock lock(&shared_->mutex);
  const uint64_t id = shared_->next_id++;
  epoll_event registration = {};
  registration.events = entry.wanted;
  registration.data.u64 = id;
  // First what may find no memory: what epoll watches has an entry. The thread
  // takes the lock before it looks for that.
  const auto [added, is_new] = shared_->entries.emplace(id, std::move(entry));
  TAKT_CHECK(is_new);
  if (epoll_ctl(shared_->epoll.get(), EPOLL_CTL_ADD, added->second.fd.get(),
                &registration) == 0) {
    return id;
  }
  const int error = errno;
  entry = std::move(added->second);  // Destroyed without the lock.
  shared_->entries.erase(added);
  return FdError(fd, error);
}

bool FdPoller::Cancel(uint64_t id) {
  Shared::Entry entry;  // Its callback is destroyed without the lock.
  return shared_->Take(id, &entry);
}

void FdPoller::ThreadMain(void* shared) {
  std::unique_ptr<std::shared_ptr<Shared>> owner(
      static_cast<std::shared_ptr<Shared>*>(shared));
  (void)RequestLowLatency();
  Run(**owner);
}

uint32_t FdPoller::DispatchSome(Shared& shared, int timeout_ms) {
  std::array<epoll_event, 16> events;
  const int count = epoll_wait(shared.epoll.get(), events.data(),
                               static_cast<int>(events.size()), timeout_ms);
  TAKT_CHECK(count >= 0 || errno == EINTR);
  uint32_t dispatched = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u64 == kWakeId) continue;
    shared.Dispatch(events[i]);
    ++dispatched;
  }
  return dispatched;
}

uint32_t FdPoller::DispatchReady() {
  if (thread_->is_started()) return 0;
  const std::shared_ptr<Shared> shared = shared_;
  return DispatchSome(*shared, 0);
}

void FdPoller::Run(Shared& shared) {
  {
    MutexLock lock(&shared.mutex);
    TAKT_CHECK(!shared.has_runner);
    shared.runner = pthread_self();
    shared.has_runner = true;
  }
  while (true) {
    DispatchSome(shared, -1);
    MutexLock lock(&shared.mutex);
    if (shared.stopping) return;
  }
}

}  // namespace takt
