#include "npu/lease.h"

#include "base/check.h"

namespace takt::npu {

Urgency Urgency::Now() const {
  if (borrower == nullptr || !borrower->has_loan()) return *this;
  const JobUrgency lent = borrower->urgency();
  const Urgency now = {lent.priority, lent.deadline_ns};
  return IsMoreUrgent(now, *this) ? now : *this;
}

Lease::Turn Lease::Acquire(const Urgency& urgency) {
  Waiter waiter;
  {
    MutexLock lock(&mutex_);
    ++statistics_.grant_count;
    waiter.turn.asked = ++count_;
    if (!is_held_) {
      TAKT_CHECK(first_ == nullptr);
      is_held_ = true;
      waiter.turn.granted = ++count_;
      return waiter.turn;
    }
    ++statistics_.wait_count;
    ++statistics_.waiting_count;
    waiter.urgency = urgency;
    Waiter** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = &waiter;
  }
  const int64_t asked_ns = NowNs();
  while ((waiter.sleeper.raised() & kGranted) == 0) {
    waiter.sleeper.Sleep(kInfiniteFuture);
  }
  TAKT_CHECK(waiter.turn.granted > waiter.turn.asked);
  waiter.turn.waited_ns = NowNs() - asked_ns;
  TAKT_CHECK(waiter.turn.waited_ns >= 0);
  return waiter.turn;
}

uint32_t Lease::CountAhead(const Urgency& urgency) const {
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_held_ || first_ == nullptr);
  uint32_t count = is_held_ ? 1 : 0;
  for (const Waiter* each = first_; each != nullptr; each = each->next) {
    if (!IsMoreUrgent(urgency, each->urgency.Now())) ++count;
  }
  return count;
}

bool Lease::TryAcquire() {
  MutexLock lock(&mutex_);
  if (is_held_) return false;
  TAKT_CHECK(first_ == nullptr);
  is_held_ = true;
  ++statistics_.grant_count;
  count_ += 2;
  return true;
}

Lease::Waiter* Lease::TakeNext() {
  TAKT_CHECK((first_ == nullptr) == (statistics_.waiting_count == 0));
  if (first_ == nullptr) return nullptr;
  Waiter** best = &first_;
  // Waiters stand in the order in which they came, so the first that has been
  // passed over too often is the one to serve.
  bool is_aged = first_->passed_over >= kPassedOverMax;
  for (Waiter** at = &first_->next; *at != nullptr && !is_aged;
       at = &(*at)->next) {
    if ((*at)->passed_over >= kPassedOverMax) {
      best = at;
      is_aged = true;
    } else if (IsMoreUrgent((*at)->urgency.Now(), (*best)->urgency.Now())) {
      best = at;
    }
  }
  statistics_.aging_count += is_aged;
  Waiter* const next = *best;
  // Requests that came earlier have been passed over.
  for (Waiter* each = first_; each != next; each = each->next) {
    ++each->passed_over;
  }
  TAKT_CHECK(next->turn.granted == 0 && next->turn.asked < count_ + 1);
  *best = next->next;
  next->turn.granted = ++count_;
  next->turn.is_aged = is_aged;
  TAKT_CHECK(statistics_.waiting_count > 0);
  --statistics_.waiting_count;
  return next;
}

void Lease::Release() {
  Waiter* next = nullptr;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(is_held_);
    next = TakeNext();
    is_held_ = next != nullptr;
    TAKT_CHECK(is_held_ || statistics_.waiting_count == 0);
  }
  if (next != nullptr) next->sleeper.Raise(kGranted);
}

Lease::Statistics Lease::statistics() const {
  MutexLock lock(&mutex_);
  return statistics_;
}

}  // namespace takt::npu
