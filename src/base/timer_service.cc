#include "base/timer_service.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/pause.h"
#include "base/prompt_thread.h"
#include "base/timer_heap.h"

namespace takt {
namespace {

class TimerThread final : public TimerService {
 public:
  explicit TimerThread(const TimerThreadOptions& options)
      : shared_(std::make_shared<Shared>(options)) {}
  ~TimerThread() override;

  void Arm(Timer* timer, int64_t deadline_ns) override;
  bool Cancel(Timer* timer) override;

 private:
  // What the thread uses. It holds a reference of its own, because a timer
  // that fires may drop the last reference to the service.
  struct Shared {
    explicit Shared(const TimerThreadOptions& options_in)
        : options(options_in) {}

    const TimerThreadOptions options;
    Mutex mutex;
    CondVar changed;
    TimerHeap heap ABSL_GUARDED_BY(mutex);
    bool stopping ABSL_GUARDED_BY(mutex) = false;
    // Told to the thread while it spins, without the mutex.
    std::atomic<bool> looks_again{false};
  };
  static void Run(std::shared_ptr<Shared> shared);
  static void Prepare(const TimerThreadOptions& options);
  // Has the thread look at the heap again, wherever it waits.
  static void Nudge(Shared& shared) {
    shared.looks_again.store(true, std::memory_order_relaxed);
    shared.changed.SignalAll();
  }

  const std::shared_ptr<Shared> shared_;
  std::thread thread_ ABSL_GUARDED_BY(shared_->mutex);
};

TimerThread::~TimerThread() {
  std::thread thread;
  {
    MutexLock lock(&shared_->mutex);
    shared_->stopping = true;
    Nudge(*shared_);
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
  MutexLock lock(&shared_->mutex);
  const bool earliest = deadline_ns < shared_->heap.next_deadline_ns();
  shared_->heap.Push(timer, deadline_ns);
  if (!thread_.joinable()) {
    thread_ = std::thread(Run, shared_);
  } else if (earliest) {
    Nudge(*shared_);
  }
}

bool TimerThread::Cancel(Timer* timer) {
  MutexLock lock(&shared_->mutex);
  return shared_->heap.Remove(timer);
}

void TimerThread::Prepare(const TimerThreadOptions& options) {
  pthread_setname_np(pthread_self(), "takt-timer");
  (void)MakeThisThreadPrompt();
  if (options.fifo_priority == 0) return;
  sched_param parameters{};
  parameters.sched_priority = options.fifo_priority;
  // Refused to most: the thread runs without it.
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
}

void TimerThread::Run(std::shared_ptr<Shared> shared) {
  Prepare(shared->options);
  const int64_t spin_ns = shared->options.spin_ns;
  shared->mutex.Lock();
  while (!shared->stopping) {
    if (Timer* timer = shared->heap.PopDue(NowNs())) {
      shared->mutex.Unlock();
      timer->fire(timer);
      shared->mutex.Lock();
      continue;
    }
    const int64_t next_ns = shared->heap.next_deadline_ns();
    if (next_ns == kInfiniteFuture || next_ns - NowNs() > spin_ns) {
      shared->changed.WaitUntil(&shared->mutex, next_ns == kInfiniteFuture
                                                    ? next_ns
                                                    : next_ns - spin_ns);
      continue;
    }
    shared->looks_again.store(false, std::memory_order_relaxed);
    shared->mutex.Unlock();
    while (NowNs() < next_ns &&
           !shared->looks_again.load(std::memory_order_relaxed)) {
      Pause();
    }
    shared->mutex.Lock();
  }
  shared->mutex.Unlock();
}

}  // namespace

std::shared_ptr<TimerService> CreateTimerThread(
    const TimerThreadOptions& options) {
  return std::make_shared<TimerThread>(options);
}

}  // namespace takt
