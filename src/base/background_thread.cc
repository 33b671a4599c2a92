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
  // A thread would not wait for the function that runs in RunOne().
  if (thread_ == nullptr && !has_no_thread_ && !is_in_run_one_) StartThread();
  waiting_.push_back(std::move(function));
  if (thread_ != nullptr) sleeper_.Raise(kWork);
}

void BackgroundThread::StartThread() {
  auto thread = std::make_unique<Thread>();
  const auto main = [](void* self) {
    static_cast<BackgroundThread*>(self)->Loop();
  };
  if (thread->Start(options_, main, this).ok()) {
    thread_ = std::move(thread);
    return;
  }
  has_no_thread_ = options_.hooks.create != nullptr;
  if (on_refused_ != nullptr) on_refused_();
}

bool BackgroundThread::RunOne() {
  std::function<void()> function;
  // Also if the function throws.
  struct Turn {
    ~Turn() {
      if (!is_taken) return;
      MutexLock lock(&self->mutex_);
      TAKT_CHECK(self->is_in_run_one_);
      self->is_in_run_one_ = false;
    }
    BackgroundThread* const self;
    bool is_taken = false;
  } turn{this};
  {
    MutexLock lock(&mutex_);
    if (thread_ != nullptr || is_in_run_one_ || waiting_.empty()) return false;
    is_in_run_one_ = turn.is_taken = true;
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
