#include "base/periodic_poller.h"

#include <utility>

namespace takt {

PeriodicPoller::PeriodicPoller(const ObjectType* type,
                               std::shared_ptr<TimerService> timers,
                               int64_t interval_ns)
    : Object(type), timers_(std::move(timers)), interval_ns_(interval_ns) {
  timer_.look = this;
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
      Ref<PeriodicPoller>::Adopt(static_cast<Timer*>(timer)->look);
  self->Poll();
  if (!self->Rearm()) self->OnStopped();
}

void PeriodicPoller::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    if (!timers_->Cancel(&timer_)) return;  // It fires now, and does the rest.
  }
  OnStopped();
  Release();  // The timer's.
}

}  // namespace takt
