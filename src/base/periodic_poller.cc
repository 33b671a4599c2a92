#include "base/periodic_poller.h"

#include <new>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"

namespace takt {

PeriodicPoller::PeriodicPoller(const ObjectType* type,
                               std::shared_ptr<TimerService> timers,
                               int64_t interval_ns)
    : Object(type), timers_(std::move(timers)), interval_ns_(interval_ns) {
  TAKT_CHECK(interval_ns_ > 0);
  timer_.poller = this;
  timer_.fire = &PeriodicPoller::OnTimer;
}

void PeriodicPoller::Start() {
  Poll();
  Rearm();
}

bool PeriodicPoller::Rearm() {
  MutexLock lock(&mutex_);
  if (is_stopped_) return false;
  Retain();  // The timer's.
  timers_->Arm(&timer_, now_ns() + interval_ns_);
  return true;
}

void PeriodicPoller::OnTimer(TimerService::Timer* timer) {
  const auto self =
      Ref<PeriodicPoller>::Adopt(static_cast<Timer*>(timer)->poller);
  TAKT_TRY { self->Poll(); }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!self->Rearm()) self->EndPolls();
}

void PeriodicPoller::EndPolls() {
  TAKT_TRY { OnStopped(); }
  TAKT_CATCH(const std::bad_alloc&) {}
}

void PeriodicPoller::Stop() {
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(!is_stopped_);
    is_stopped_ = true;
    if (!timers_->Cancel(&timer_)) return;  // It fires now: OnTimer() ends it.
  }
  EndPolls();
  Release();  // The timer's.
}

}  // namespace takt
