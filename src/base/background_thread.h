// A BackgroundThread runs functions one after another on its own thread, which
// the first function starts. Without a thread, RunOne() runs them. If the
// system refuses the thread, the next function tries again to start it.
//
// Thread-safety: Post() from any thread. Lock order: mutex_ is a leaf.
#ifndef TAKT_BASE_BACKGROUND_THREAD_H_
#define TAKT_BASE_BACKGROUND_THREAD_H_

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/sleeper.h"
#include "base/thread.h"

namespace takt {

class BackgroundThread {
 public:
  // `has_no_thread`: functions run in RunOne() only. The same holds if the
  // application has no thread. `on_refused` is called under mutex_ whenever the
  // thread does not start; null: not called.
  BackgroundThread() = default;
  BackgroundThread(const Thread::Options& options, bool has_no_thread,
                   std::function<void()> on_refused = nullptr)
      : options_(options),
        on_refused_(std::move(on_refused)),
        has_no_thread_(has_no_thread) {}
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  // Waits for the running function; functions that wait are never run.
  ~BackgroundThread();

  void Post(std::function<void()> function) ABSL_LOCKS_EXCLUDED(mutex_);
  // Without a thread: runs one function on the calling thread. False if none
  // waits, or another thread runs one.
  bool RunOne() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr uint32_t kWork = 1;

  void StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop();

  Sleeper sleeper_;  // The thread sleeps on it.
  Mutex mutex_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  const Thread::Options options_{.name = "takt-background"};
  const std::function<void()> on_refused_;
  bool has_no_thread_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_in_run_one_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Thread> thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt

#endif  // TAKT_BASE_BACKGROUND_THREAD_H_
