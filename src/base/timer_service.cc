#include "base/timer_service.h"

#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/timer_heap.h"

namespace takt {
namespace {

class TimerThread final : public TimerService {
 public:
  TimerThread() : shared_(std::make_shared<Shared>()) {}
  ~TimerThread() override;

  void Arm(Timer* timer, int64_t deadline_ns) override;
  bool Cancel(Timer* timer) override;

 private:
  // What the thread uses. It holds a reference of its own, because a timer
  // that fires may drop the last reference to the service.
  struct Shared {
    absl::Mutex mutex;
    absl::CondVar changed;
    TimerHeap heap ABSL_GUARDED_BY(mutex);
    bool stopping ABSL_GUARDED_BY(mutex) = false;
  };
  static void Run(std::shared_ptr<Shared> shared);

  const std::shared_ptr<Shared> shared_;
  std::thread thread_ ABSL_GUARDED_BY(shared_->mutex);
};

TimerThread::~TimerThread() {
  std::thread thread;
  {
    absl::MutexLock lock(&shared_->mutex);
    shared_->stopping = true;
    shared_->changed.SignalAll();
    thread = std::move(thread_);
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // It ends when the timer that called this returns.
  } else {
    thread.join();
  }
}

void TimerThread::Arm(Timer* timer, int64_t deadline_ns) {
  absl::MutexLock lock(&shared_->mutex);
  const bool earliest = deadline_ns < shared_->heap.next_deadline_ns();
  shared_->heap.Push(timer, deadline_ns);
  if (!thread_.joinable()) {
    thread_ = std::thread(Run, shared_);
  } else if (earliest) {
    shared_->changed.Signal();
  }
}

bool TimerThread::Cancel(Timer* timer) {
  absl::MutexLock lock(&shared_->mutex);
  return shared_->heap.Remove(timer);
}

void TimerThread::Run(std::shared_ptr<Shared> shared) {
  shared->mutex.Lock();
  while (!shared->stopping) {
    const int64_t now_ns = NowNs();
    if (Timer* timer = shared->heap.PopDue(now_ns)) {
      shared->mutex.Unlock();
      timer->fire(timer);
      shared->mutex.Lock();
      continue;
    }
    const int64_t next_ns = shared->heap.next_deadline_ns();
    if (next_ns == kInfiniteFuture) {
      shared->changed.Wait(&shared->mutex);
    } else {
      shared->changed.WaitWithTimeout(&shared->mutex,
                                      absl::Nanoseconds(next_ns - now_ns));
    }
  }
  shared->mutex.Unlock();
}

}  // namespace

std::shared_ptr<TimerService> CreateTimerThread() {
  return std::make_shared<TimerThread>();
}

}  // namespace takt
