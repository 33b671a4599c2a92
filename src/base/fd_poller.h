// An FdPoller calls a function when a file descriptor is ready. It has one
// thread, which sleeps in epoll_wait().
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_BASE_FD_POLLER_H_
#define TAKT_BASE_FD_POLLER_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/thread.h"

namespace takt {

class FdPoller {
 public:
  enum class Readiness { kReadable, kWritable };
  // Receives OK when the descriptor is ready, ABORTED if it hung up or has an
  // error, CANCELLED if the poller is destroyed first. Runs on the poller's
  // thread, or on the one that destroys the poller, with no lock held. Must not
  // block.
  using Callback = absl::AnyInvocable<void(const absl::Status&) &&>;

  struct Options {
    ThreadHooks hooks = {};
    bool reports_faults = false;
    // Callbacks run in DispatchReady() only.
    bool has_no_thread = false;
  };
  // Starts the thread. RESOURCE_EXHAUSTED if the system provides no descriptors
  // or no thread. If the hooks provide no thread, the poller has none.
  static absl::StatusOr<std::unique_ptr<FdPoller>> Create(
      const Options& options);
  static absl::StatusOr<std::unique_ptr<FdPoller>> Create() {
    return Create(Options());
  }
  FdPoller(const FdPoller&) = delete;
  FdPoller& operator=(const FdPoller&) = delete;
  // Stops the thread, then runs the remaining callbacks with CANCELLED. A
  // callback may destroy the poller; the thread then ends after it.
  ~FdPoller();

  // Runs `callback` exactly once, unless Cancel() removes it. The poller
  // watches a duplicate of `fd`, so the caller may close its own at any time.
  // It reads nothing from it. Returns the argument for Cancel().
  //
  // INVALID_ARGUMENT if `fd` is no descriptor, or of a kind that cannot be
  // polled (a regular file); RESOURCE_EXHAUSTED. `callback` does not run then.
  absl::StatusOr<uint64_t> Watch(int fd, Readiness wanted, Callback callback);

  // True if the callback will not run; it is destroyed here then. False if it
  // has run, runs or will run.
  bool Cancel(uint64_t id);

  // Without a thread: runs the callbacks of the descriptors that are ready now,
  // and returns how many. The caller keeps the poller meanwhile.
  uint32_t DispatchReady();

 private:
  struct Shared;
  explicit FdPoller(std::shared_ptr<Shared> shared);
  static void Run(Shared& shared);
  static uint32_t DispatchSome(Shared& shared, int timeout_ms);
  static void ThreadMain(void* shared);

  // The thread has a reference of its own, since a callback may destroy the
  // poller.
  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
};

}  // namespace takt

#endif  // TAKT_BASE_FD_POLLER_H_
