// A TimerService runs small callbacks at their deadlines. A timer is a node
// that its owner embeds, so arming one allocates nothing once warm.
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
  // Owned by whoever armed it, until it has fired or Cancel() returned true.
  struct Timer {
    // Called once, on a thread of the service, with no lock held. May destroy
    // the timer. Must not block: other timers wait for it.
    void (*fire)(Timer* timer) = nullptr;
    // It may also be called on a thread in FireAnywhere(), while others fire.
    // Not changed while it is armed.
    bool fires_anywhere = false;

    // Used by the service.
    static constexpr size_t kIdle = ~size_t{0};
    int64_t deadline_ns = 0;
    size_t position = kIdle;  // In the service's heap.
  };

  virtual ~TimerService() = default;

  // Has `timer` fire once NowNs() has reached `deadline_ns`. The timer must be
  // idle.
  virtual void Arm(Timer* timer, int64_t deadline_ns) = 0;
  // True if the timer was armed and will not fire any more; false if it was
  // never armed, has fired or is firing.
  virtual bool Cancel(Timer* timer) = 0;
  // For threads that spin anyway, and so see what is due sooner than one that
  // has to be woken: fires on this thread what is due at `now_ns` and may fire
  // anywhere. False if there is nothing, which costs no more than a look.
  virtual bool FireAnywhere(int64_t now_ns) {
    (void)now_ns;
    return false;
  }
  // For a service without a thread: fires the timers that are due, on this
  // thread, and returns how many. Several threads may call it at once.
  virtual uint32_t FireDue() { return 0; }
  // When the next timer of such a service is due; kInfiniteFuture: there is
  // none, or a thread sees to it.
  virtual int64_t NextDueNs() { return INT64_MAX; }
};

struct TimerThreadOptions {
  const char* name = "takt-timer";
  // The thread wakes up so long before a deadline and spins until it has come:
  // the kernel may wake a sleeper late, by up to a millisecond or two on a
  // small board. 0: it sleeps to the end.
  int64_t spin_ns = 0;
  // SCHED_FIFO, 1 to 99, where the system permits; 0: as the process.
  int fifo_priority = 0;
  // Gets the priority that was granted, and the errno of what refused it; 0:
  // nothing did. Called on the thread. Null: not called.
  std::function<void(int granted_priority, int error)> on_priority = nullptr;
  ThreadHooks hooks = {};
  bool reports_faults = false;
  // Nothing fires but in FireDue().
  bool has_no_thread = false;
};

// The service that lives by the real clock: one thread, which sleeps until the
// earliest deadline. It is started by this where it is the application's to
// make, else by the first Arm(). Where the application makes none, the service
// has no thread. Destroying the service
// forgets the timers that are still armed; a timer that is firing meanwhile is
// waited for, unless it is the one that destroys the service. Whoever calls
// FireAnywhere() holds a reference.
std::shared_ptr<TimerService> CreateTimerThread(
    const TimerThreadOptions& options = {});

}  // namespace takt

#endif  // TAKT_BASE_TIMER_SERVICE_H_
