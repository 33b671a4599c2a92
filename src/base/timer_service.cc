#include "base/timer_service.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/mutex.h"
#include "base/pause.h"
#include "base/thread_latency.h"
#include "base/timer_heap.h"

namespace takt {
namespace {

class TimerThread final : public TimerService {
 public:
  explicit TimerThread(const TimerThreadOptions& options)
      : shared_(std::make_shared<Shared>(options)),
        has_no_thread_(options.has_no_thread) {}
  ~TimerThread() override;

  void Arm(Timer* timer, int64_t deadline_ns) override;
  bool Cancel(Timer* timer) override;
  bool FireAnywhere(int64_t now_ns) override;
  bool FireOverdue() override;
  uint32_t FireDue() override;
  bool StartThread() override {
    MutexLock lock(&shared_->mutex);
    return has_no_thread_ || Start();
  }
  int64_t NextDueNs() override;

  // False if no thread starts.
  bool Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mutex);
  bool TryToStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mutex);
  void StartIfHooked();

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
    // For threads that look without the mutex.
    void PublishOpen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      open_ns.store(open.next_deadline_ns(), std::memory_order_relaxed);
    }
    // The earliest due timer that fires anywhere; nullptr if there is none.
    Timer* PopOpen(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      Timer* const timer = open.PopDue(now_ns);
      if (timer != nullptr) PublishOpen();
      return timer;
    }
    // A due timer; nullptr if there is none.
    Timer* PopAny(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      Timer* const timer = own.PopDue(now_ns);
      return timer != nullptr ? timer : PopOpen(now_ns);
    }

    const TimerThreadOptions options;
    Mutex mutex;
    CondVar changed;
    TimerHeap own ABSL_GUARDED_BY(mutex);
    TimerHeap open ABSL_GUARDED_BY(mutex);  // Timers that fire anywhere.
    std::atomic<int64_t> open_ns{kInfiniteFuture};
    bool stopping ABSL_GUARDED_BY(mutex) = false;
    pthread_t runner ABSL_GUARDED_BY(mutex) = {};  // If has_runner.
    bool has_runner ABSL_GUARDED_BY(mutex) = false;
    // Read by the thread while it spins, without the mutex.
    std::atomic<bool> looks_again{false};
  };
  static void Main(void* shared);
  static void Run(Shared& shared);
  static void Prepare(const TimerThreadOptions& options);
  // Makes the thread look at the heaps again, whether it sleeps or spins.
  static void Nudge(Shared& shared) {
    shared.looks_again.store(true, std::memory_order_relaxed);
    shared.changed.SignalAll();
  }

  const std::shared_ptr<Shared> shared_;
  bool has_no_thread_ ABSL_GUARDED_BY(shared_->mutex);
  std::unique_ptr<Thread> thread_ ABSL_GUARDED_BY(shared_->mutex);
};

TimerThread::~TimerThread() {
  std::unique_ptr<Thread> thread;
  bool is_this_thread = false;
  {
    MutexLock lock(&shared_->mutex);
    shared_->stopping = true;
    Nudge(*shared_);
    thread = std::move(thread_);
    is_this_thread = shared_->has_runner &&
                     pthread_equal(shared_->runner, pthread_self()) != 0;
  }
  if (thread == nullptr) return;
  if (is_this_thread) {
    thread->Detach();  // It ends after the timer that called this.
  } else {
    thread->Join();
  }
}

bool TimerThread::Start() {
  if (thread_ != nullptr) return true;
  bool is_started = false;
  TAKT_TRY { is_started = TryToStart(); }
  TAKT_CATCH(const std::bad_alloc&) {}
  const std::function<void()>& on_refused = shared_->options.on_refused;
  if (!is_started && on_refused != nullptr) on_refused();
  return is_started;
}

bool TimerThread::TryToStart() {
  auto thread = std::make_unique<Thread>();
  auto argument = std::make_unique<std::shared_ptr<Shared>>(shared_);
  const Thread::Options options = {
      .name = shared_->options.name,
      .reports_faults = shared_->options.reports_faults,
      .hooks = shared_->options.hooks};
  if (!thread->Start(options, &Main, argument.get()).ok()) return false;
  argument.release();
  thread_ = std::move(thread);
  return true;
}

void TimerThread::Arm(Timer* timer, int64_t deadline_ns) {
  MutexLock lock(&shared_->mutex);
  TAKT_CHECK(!timer->is_armed && timer->fire != nullptr);
  const bool earliest = deadline_ns < shared_->next_deadline_ns();
  shared_->HeapOf(*timer).Push(timer, deadline_ns);
  shared_->PublishOpen();
  if (has_no_thread_) return;
  if (thread_ == nullptr) {
    (void)Start();  // If it does not start, the next Arm() tries again.
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
  // A timer that fires may drop all references but the caller's.
  const std::shared_ptr<Shared> shared = shared_;
  Timer* timer = nullptr;
  {
    MutexLock lock(&shared->mutex);
    timer = shared->PopOpen(now_ns);
  }
  if (timer == nullptr) return false;
  TAKT_DCHECK(timer->fires_anywhere);
  timer->fire(timer);
  return true;
}

bool TimerThread::FireOverdue() {
  const int64_t due_ns = shared_->open_ns.load(std::memory_order_relaxed);
  if (due_ns == kInfiniteFuture) return false;
  const int64_t now_ns = NowNs();
  return now_ns - due_ns >= kOverdueNs && FireAnywhere(now_ns);
}

uint32_t TimerThread::FireDue() {
  // A timer that they arm for a time in the past waits for the next call.
  const int64_t now_ns = NowNs();
  uint32_t count = 0;
  while (true) {
    Timer* timer = nullptr;
    {
      MutexLock lock(&shared_->mutex);
      if (has_no_thread_) timer = shared_->PopAny(now_ns);
    }
    if (timer == nullptr) return count;
    timer->fire(timer);
    ++count;
  }
}

int64_t TimerThread::NextDueNs() {
  MutexLock lock(&shared_->mutex);
  return has_no_thread_ ? shared_->next_deadline_ns() : kInfiniteFuture;
}

void TimerThread::StartIfHooked() {
  MutexLock lock(&shared_->mutex);
  if (has_no_thread_ || shared_->options.hooks.create == nullptr) return;
  has_no_thread_ = !Start();
}

void TimerThread::Prepare(const TimerThreadOptions& options) {
  (void)RequestLowLatency();
  if (options.fifo_priority == 0) return;
  sched_param parameters{};
  parameters.sched_priority = options.fifo_priority;
  // Most processes have no right to it; the thread then runs without it.
  const int error =
      pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  if (options.on_priority != nullptr) {
    options.on_priority(error == 0 ? options.fifo_priority : 0, error);
  }
}

void TimerThread::Main(void* argument) {
  auto* const owner = static_cast<std::shared_ptr<Shared>*>(argument);
  Prepare((*owner)->options);
  Run(**owner);
  delete owner;
}

void TimerThread::Run(Shared& shared) {
  const int64_t spin_ns = shared.options.spin_ns;
  shared.mutex.Lock();
  TAKT_CHECK(!shared.has_runner);
  shared.runner = pthread_self();
  shared.has_runner = true;
  while (!shared.stopping) {
    Timer* const timer = shared.PopAny(NowNs());
    if (timer != nullptr) {
      shared.mutex.Unlock();
      timer->fire(timer);
      shared.mutex.Lock();
      continue;
    }
    const int64_t next_ns = shared.next_deadline_ns();
    if (next_ns == kInfiniteFuture || next_ns - NowNs() > spin_ns) {
      shared.changed.WaitUntil(&shared.mutex, next_ns == kInfiniteFuture
                                                  ? next_ns
                                                  : next_ns - spin_ns);
      continue;
    }
    shared.looks_again.store(false, std::memory_order_relaxed);
    shared.mutex.Unlock();
    while (NowNs() < next_ns &&
           !shared.looks_again.load(std::memory_order_relaxed)) {
      Pause();
    }
    shared.mutex.Lock();
  }
  shared.mutex.Unlock();
}

}  // namespace

std::shared_ptr<TimerService> CreateTimerThread(
    const TimerThreadOptions& options) {
  auto service = std::make_shared<TimerThread>(options);
  service->StartIfHooked();
  return service;
}

}  // namespace takt
