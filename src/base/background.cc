#include "base/background.h"

#include <utility>

#include "base/clock.h"

namespace takt {

Background::~Background() {
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    is_ending_ = true;
    waiting_.clear();
    thread = std::move(thread_);
  }
  if (!thread.joinable()) return;
  sleeper_.Raise(kWork);
  thread.join();
}

void Background::Post(std::function<void()> function) {
  MutexLock lock(&mutex_);
  waiting_.push_back(std::move(function));
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  sleeper_.Raise(kWork);
}

void Background::Loop() {
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
