#include "base/timer_service.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
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
  bool FireAnywhere(int64_t now_ns) override;

 private:
  // What the thread uses. It holds a reference of its own, because a timer
  // that fires may drop the last reference to the service.
  struct Shared {
    explicit Shared(const TimerThreadOptions& options_in)
        : options(options_in) {}

    TimerHeap& HeapOf(const Timer& timer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return timer.fires_anywhere ? open : own;
    }
    int64_t next_deadline_ns() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return std::min(own.next_deadline_ns(), open.next_deadline_ns());
    }
    // For who looks without the mutex.
    void PublishOpen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      open_ns.store(open.next_deadline_ns(), std::memory_order_relaxed);
    }
    // The earliest that is due and fires anywhere; nullptr: none is.
    Timer* PopOpen(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      Timer* const timer = open.PopDue(now_ns);
      if (timer != nullptr) PublishOpen();
      return timer;
    }

    const TimerThreadOptions options;
    Mutex mutex;
    CondVar changed;
    TimerHeap own ABSL_GUARDED_BY(mutex);
    TimerHeap open ABSL_GUARDED_BY(mutex);  // Of those that fire anywhere.
    std::atomic<int64_t> open_ns{kInfiniteFuture};
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
  const bool earliest = deadline_ns < shared_->next_deadline_ns();
  shared_->HeapOf(*timer).Push(timer, deadline_ns);
  shared_->PublishOpen();
  if (!thread_.joinable()) {
    thread_ = std::thread(Run, shared_);
  } else if (earliest) {
    Nudge(*shared_);
  }
}

bool TimerThread::Cancel(Timer* timer) {
  MutexLock lock(&shared_->mutex);
  const bool is_removed = shared_->HeapOf(*timer).Remove(timer);
  shared_->PublishOpen();
  return is_removed;
}

bool TimerThread::FireAnywhere(int64_t now_ns) {
  if (now_ns < shared_->open_ns.load(std::memory_order_relaxed)) return false;
  // A timer that fires may drop the last reference but the caller's.
  const std::shared_ptr<Shared> shared = shared_;
  Timer* timer = nullptr;
  {
    MutexLock lock(&shared->mutex);
    timer = shared->PopOpen(now_ns);
  }
  if (timer == nullptr) return false;
  timer->fire(timer);
  return true;
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
    const int64_t now_ns = NowNs();
    Timer* timer = shared->own.PopDue(now_ns);
    if (timer == nullptr) timer = shared->PopOpen(now_ns);
    if (timer != nullptr) {
      shared->mutex.Unlock();
      timer->fire(timer);
      shared->mutex.Lock();
      continue;
    }
    const int64_t next_ns = shared->next_deadline_ns();
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
