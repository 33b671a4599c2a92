// A PeriodicPoller looks at something again and again, on the thread of a timer
// service, until it is stopped.
//
// Thread-safety: Stop() once, by any thread.
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
  // It looks no more, but for a look that goes on, which is not waited for.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 protected:
  PeriodicPoller(const ObjectType* type, std::shared_ptr<TimerService> timers,
                 int64_t interval_ns);

  // Looks for the first time, here, and then every interval. Called once.
  void Start() ABSL_LOCKS_EXCLUDED(mutex_);

  virtual int64_t now_ns() const = 0;  // The timers' clock.
  virtual void Poll() = 0;
  // After the last look, on the thread of that or of Stop().
  virtual void OnStopped() {}

 private:
  struct Timer : TimerService::Timer {
    PeriodicPoller* look = nullptr;
  };
  static void OnTimer(TimerService::Timer* timer);
  bool Rearm() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<TimerService> timers_;
  const int64_t interval_ns_;
  Mutex mutex_;
  Timer timer_ ABSL_GUARDED_BY(mutex_);  // Armed: it holds a reference.
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace takt

#endif  // TAKT_BASE_PERIODIC_POLLER_H_
