#include "npu/lease.h"

#include "base/check.h"
#include "base/clock.h"

namespace takt::npu {

Urgency Urgency::Now() const {
  if (borrower == nullptr || !borrower->has_loan()) return *this;
  const JobUrgency lent = borrower->urgency();
  const Urgency now = {lent.priority, lent.deadline_ns};
  return IsMoreUrgent(now, *this) ? now : *this;
}

Lease::Turn Lease::Acquire(const Urgency& urgency) {
  Waiter waiter;
  waiter.urgency = urgency;
  bool is_first = false;
  {
    MutexLock lock(&mutex_);
    ++statistics_.grant_count;
    waiter.turn.asked = ++count_;
    is_first = !is_held_;
    if (is_first) {
      TAKT_CHECK(first_ == nullptr);
      is_held_ = true;
      waiter.turn.granted = ++count_;
      if (shared_ == nullptr) return waiter.turn;
    } else {
      ++statistics_.wait_count;
      ++statistics_.waiting_count;
      Waiter** end = &first_;
      while (*end != nullptr) end = &(*end)->next;
      *end = &waiter;
    }
  }
  const int64_t asked_ns = NowNs();
  if (!is_first) {
    if (shared_ != nullptr) shared_->Raise(urgency.Now());
    SleepUntilGranted(&waiter);
  }
  if (shared_ != nullptr && !waiter.has_shared) AcquireShared(&waiter);
  TAKT_CHECK(waiter.turn.granted > waiter.turn.asked);
  waiter.turn.waited_ns = NowNs() - asked_ns;
  TAKT_CHECK(waiter.turn.waited_ns >= 0);
  return waiter.turn;
}

void Lease::SleepUntilGranted(Waiter* waiter) {
  while ((waiter->sleeper.raised() & kGranted) == 0) {
    waiter->sleeper.Sleep(kInfiniteFuture);
  }
  waiter->sleeper.Take(kGranted);
}

void Lease::AcquireShared(Waiter* waiter) {
  shared_->Acquire([this, waiter] {
    MutexLock lock(&mutex_);
    Urgency most = waiter->urgency.Now();
    for (const Waiter* each = first_; each != nullptr; each = each->next) {
      const Urgency now = each->urgency.Now();
      if (IsMoreUrgent(now, most)) most = now;
    }
    most.borrower = nullptr;
    return most;
  });
  Waiter* next = nullptr;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(is_held_);
    // Those that came meanwhile may be more urgent. It keeps its place.
    waiter->turn.granted = 0;
    waiter->next = first_;
    first_ = waiter;
    ++statistics_.waiting_count;
    next = TakeNext();
    next->has_shared = true;
  }
  if (next == waiter) return;
  next->sleeper.Raise(kGranted);
  SleepUntilGranted(waiter);
  if (!waiter->has_shared) AcquireShared(waiter);
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

Lease::Waiter* Lease::TakeNext() {
  TAKT_CHECK((first_ == nullptr) == (statistics_.waiting_count == 0));
  if (first_ == nullptr) return nullptr;
  NextTurn<Waiter**> turn;
  for (Waiter** at = &first_; *at != nullptr; at = &(*at)->next) {
    turn.Show(at, (*at)->urgency.Now(), (*at)->passed_over);
  }
  Waiter** const best = turn.best();
  statistics_.aging_count += turn.is_aged();
  Waiter* const next = *best;
  // Requests that came earlier have been passed over.
  for (Waiter* each = first_; each != next; each = each->next) {
    ++each->passed_over;
  }
  TAKT_CHECK(next->turn.granted == 0 && next->turn.asked < count_ + 1);
  *best = next->next;
  next->turn.granted = ++count_;
  next->turn.is_aged = turn.is_aged();
  TAKT_CHECK(statistics_.waiting_count > 0);
  --statistics_.waiting_count;
  return next;
}

Lease::Waiter* Lease::PassOn() {
  TAKT_CHECK(is_held_);
  Waiter* const next = TakeNext();
  is_held_ = next != nullptr;
  TAKT_CHECK(is_held_ || statistics_.waiting_count == 0);
  return next;
}

void Lease::Release() {
  Waiter* next = nullptr;
  if (shared_ == nullptr) {
    MutexLock lock(&mutex_);
    next = PassOn();
  } else {
    {
      MutexLock lock(&mutex_);
      next = TakeNext();
    }
    // Nobody else acquires the shared lease meanwhile: this one is still held.
    if (next != nullptr) {
      const Urgency urgency = next->urgency.Now();
      next->has_shared = !shared_->ShouldYieldTo(urgency);
      if (!next->has_shared) shared_->Release(&urgency);
    } else {
      shared_->Release();
      MutexLock lock(&mutex_);
      next = PassOn();  // One may have come.
      if (next != nullptr) next->has_shared = false;
    }
  }
  if (next != nullptr) next->sleeper.Raise(kGranted);
}

Lease::Statistics Lease::statistics() const {
  MutexLock lock(&mutex_);
  return statistics_;
}

}  // namespace takt::npu
