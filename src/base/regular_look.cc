#include "base/regular_look.h"

#include <utility>

namespace takt {

RegularLook::RegularLook(const ObjectType* type,
                         std::shared_ptr<TimerService> timers,
                         int64_t interval_ns)
    : Object(type), timers_(std::move(timers)), interval_ns_(interval_ns) {
  timer_.look = this;
  timer_.fire = &RegularLook::OnTimer;
}

void RegularLook::Start() {
  Look();
  Rearm();
}

bool RegularLook::Rearm() {
  MutexLock lock(&mutex_);
  if (is_stopped_) return false;
  Retain();  // The timer's.
  timers_->Arm(&timer_, now_ns() + interval_ns_);
  return true;
}

void RegularLook::OnTimer(TimerService::Timer* timer) {
  const auto self = Ref<RegularLook>::Adopt(static_cast<Timer*>(timer)->look);
  self->Look();
  if (!self->Rearm()) self->End();
}

void RegularLook::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    if (!timers_->Cancel(&timer_)) return;  // It fires now, and does the rest.
  }
  End();
  Release();  // The timer's.
}

}  // namespace takt
