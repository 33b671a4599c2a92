// A PeriodicPoller calls Poll() at a fixed interval, on the thread of a timer
// service, until it is stopped.
//
// Thread-safety: Stop() once, on any thread.
#ifndef TAKT_BASE_PERIODIC_POLLER_H_
#define TAKT_BASE_PERIODIC_POLLER_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"

namespace takt {

class PeriodicPoller : public Object {
 public:
  // No further Poll() begins. Does not wait for one that runs.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 protected:
  PeriodicPoller(const ObjectType* type, std::shared_ptr<TimerService> timers,
                 int64_t interval_ns);

  // Polls once on this thread, and then at every interval. Called once.
  void Start() ABSL_LOCKS_EXCLUDED(mutex_);

  virtual int64_t now_ns() const = 0;  // The timers' clock.
  // If it throws std::bad_alloc on the timer's thread, the next poll comes as
  // usual.
  virtual void Poll() = 0;
  // Called once after the last Poll(), on the thread of that or of Stop(). May
  // throw std::bad_alloc, too.
  virtual void OnStopped() {}

 private:
  struct Timer : TimerService::Timer {
    PeriodicPoller* poller = nullptr;
  };
  static void OnTimer(TimerService::Timer* timer);
  void EndPolls();
  // False if the poller has been stopped.
  bool Rearm() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<TimerService> timers_;
  const int64_t interval_ns_;
  Mutex mutex_;
  // Holds a reference while it is armed or fires.
  Timer timer_ ABSL_GUARDED_BY(mutex_);
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace takt

#endif  // TAKT_BASE_PERIODIC_POLLER_H_
