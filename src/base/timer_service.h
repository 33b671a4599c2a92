// A TimerService runs small callbacks at their deadlines. A timer is a node
// that its owner embeds, so arming one allocates nothing and cannot fail.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_BASE_TIMER_SERVICE_H_
#define TAKT_BASE_TIMER_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/thread.h"

namespace takt {

class TimerService {
 public:
  // The caller of Arm() keeps the timer alive until it has fired or Cancel()
  // has returned true.
  struct Timer {
    // Called once, on a thread of the service, with no lock held. May destroy
    // the timer. Must not block: other timers wait for it.
    void (*fire)(Timer* timer) = nullptr;
    // fire() may also be called by FireAnywhere(), while other timers fire. Not
    // changed while the timer is armed.
    bool fires_anywhere = false;

    // Used by the service.
    int64_t deadline_ns = 0;
    bool is_armed = false;
    // In the service's heap. `previous` is the next newer child of the same
    // parent, or the parent.
    Timer* previous = nullptr;
    Timer* next_sibling = nullptr;
    Timer* first_child = nullptr;
  };

  virtual ~TimerService() = default;

  // `timer` fires once NowNs() has reached `deadline_ns`. It must be idle.
  virtual void Arm(Timer* timer, int64_t deadline_ns) = 0;
  // Starts the service's thread, if it has one and that does not run yet. False
  // if it does not start: timers then fire once a later Arm() starts it.
  [[nodiscard]] virtual bool StartThread() { return true; }
  // True if the timer was armed and will not fire; false if it was never armed,
  // has fired or is firing.
  virtual bool Cancel(Timer* timer) = 0;
  // For threads that spin anyway, and so see a due timer sooner than a thread
  // that has to be woken. Fires on this thread a timer that is due at `now_ns`
  // and may fire anywhere. False if there is none, which costs one load.
  virtual bool FireAnywhere(int64_t now_ns) {
    (void)now_ns;
    return false;
  }
  // For threads that work, between two pieces of it. Fires on this thread a
  // timer that may fire anywhere and is late by kOverdueNs: the system has
  // taken away the processor of the thread that ought to fire it. Reads the
  // clock only if such a timer is armed. False if there is none.
  virtual bool FireOverdue() { return false; }
  static constexpr int64_t kOverdueNs = 30'000;
  // For a service without a thread: fires the due timers on this thread, and
  // returns how many. Several threads may call it at once.
  virtual uint32_t FireDue() { return 0; }
  // When the next timer of such a service is due. kInfiniteFuture if there is
  // none, or if the service has a thread.
  virtual int64_t NextDueNs() { return INT64_MAX; }
};

struct TimerThreadOptions {
  const char* name = "takt-timer";
  // The thread wakes up this long before a deadline, and spins until the
  // deadline: the kernel may wake a thread late, by a millisecond or two on a
  // small board. 0: it sleeps until the deadline.
  int64_t spin_ns = 0;
  // SCHED_FIFO, 1 to 99, where the system permits; 0: as the process.
  int fifo_priority = 0;
  // Called on the thread with the priority that the system granted, and the
  // errno of a refusal or 0. Null: not called.
  std::function<void(int granted_priority, int error)> on_priority = nullptr;
  // Called whenever the thread does not start. Must not use the service. Null:
  // not called.
  std::function<void()> on_refused = nullptr;
  ThreadHooks hooks = {};
  bool reports_faults = false;
  // Timers fire in FireDue() only.
  bool has_no_thread = false;
};

// The service of the real clock: one thread, which sleeps until the earliest
// deadline. The first Arm() starts it. With hooks, this function starts it, and
// the service has no thread if the application makes none.
//
// The destructor drops the timers that are still armed. It waits for a timer
// that fires meanwhile, unless that timer destroys the service. A caller of
// FireAnywhere() holds a reference.
std::shared_ptr<TimerService> CreateTimerThread(
    const TimerThreadOptions& options = {});

}  // namespace takt

#endif  // TAKT_BASE_TIMER_SERVICE_H_
