#include "base/background_thread.h"

#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace takt {

BackgroundThread::~BackgroundThread() {
  std::unique_ptr<Thread> thread;
  {
    MutexLock lock(&mutex_);
    is_ending_ = true;
    waiting_.clear();
    thread = std::move(thread_);
  }
  if (thread == nullptr) return;
  sleeper_.Raise(kWork);
  thread->Join();
}

void BackgroundThread::Post(std::function<void()> function) {
  TAKT_CHECK(function != nullptr);
  MutexLock lock(&mutex_);
  if (thread_ == nullptr && !has_no_thread_) {
    auto thread = std::make_unique<Thread>();
    const auto main = [](void* self) {
      static_cast<BackgroundThread*>(self)->Loop();
    };
    has_no_thread_ = !thread->Start(options_, main, this).ok();
    if (!has_no_thread_) thread_ = std::move(thread);
  }
  waiting_.push_back(std::move(function));
  if (!has_no_thread_) sleeper_.Raise(kWork);
}

bool BackgroundThread::RunOne() {
  std::function<void()> function;
  {
    MutexLock lock(&mutex_);
    if (!has_no_thread_ || waiting_.empty()) return false;
    function = std::move(waiting_.front());
    waiting_.pop_front();
  }
  function();
  return true;
}

void BackgroundThread::Loop() {
  for (;;) {
    sleeper_.Sleep(kInfiniteFuture);
    sleeper_.Take(kWork);
    for (;;) {
      std::function<void()> function;
      {
        MutexLock lock(&mutex_);
        if (is_ending_) return;
        if (waiting_.empty()) break;
        function = std::move(waiting_.front());
        waiting_.pop_front();
      }
      function();
    }
  }
}

}  // namespace takt
