// An FdPoller calls back once a file descriptor is ready: one thread that
// sleeps in epoll_wait().
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
  enum class Event { kReadable, kWritable };
  // Gets OK once the descriptor is ready; ABORTED if it hung up or has an
  // error; CANCELLED if the poller is destroyed before. Runs on the poller's
  // thread, or on the one that destroys the poller, with no lock held. Must not
  // block.
  using Callback = absl::AnyInvocable<void(const absl::Status&) &&>;

  struct Options {
    ThreadHooks hooks = {};
    bool reports_faults = false;
    // It looks when it is told to, in DispatchReady().
    bool has_no_thread = false;
  };
  // Starts the thread. RESOURCE_EXHAUSTED if the system gives no descriptors
  // or no thread. Where hooks make none, the poller has none.
  static absl::StatusOr<std::unique_ptr<FdPoller>> Create(
      const Options& options);
  static absl::StatusOr<std::unique_ptr<FdPoller>> Create() {
    return Create(Options());
  }
  FdPoller(const FdPoller&) = delete;
  FdPoller& operator=(const FdPoller&) = delete;
  // Stops the thread, then runs the callbacks that are left. May run in a
  // callback; the thread ends when that has returned.
  ~FdPoller();

  // Runs `callback` exactly once, unless Cancel() takes it back. The poller
  // watches a duplicate of `fd`: the caller may close his at any time. Nothing
  // is read from it. Returns what Cancel() takes.
  //
  // INVALID_ARGUMENT if `fd` is none, or of a kind that cannot be polled (a
  // regular file); RESOURCE_EXHAUSTED; the callback will not run then.
  absl::StatusOr<uint64_t> Watch(int fd, Event event, Callback callback);

  // True if the callback will not run; false if it has or will. Its callback
  // is destroyed here.
  bool Cancel(uint64_t id);

  // Without a thread: calls back on this one for what is ready now, and returns
  // for how many descriptors. The caller keeps the poller.
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
