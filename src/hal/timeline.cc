#include "hal/timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"
#include "base/lean_error.h"
#include "base/status.h"

namespace takt::hal {
namespace {

void RunWaiter(Deferred* deferred) {
  auto* waiter = static_cast<TimelineWaiter*>(deferred);
  // Moved out first, because the call may destroy the waiter.
  const absl::Status outcome = std::move(waiter->outcome);
  waiter->notify(waiter, outcome);
}

}  // namespace

Ref<Timeline> Timeline::Create(uint64_t initial_value) {
  return Ref<Timeline>::Adopt(new Timeline(initial_value));
}

Ref<Timeline> Timeline::Create(uint64_t initial_value, BlockPool& pool) {
  return Ref<Timeline>::Adopt(new (pool) Timeline(initial_value));
}

Timeline::~Timeline() {
  TAKT_CHECK(first_ == nullptr);  // Abandon() has notified every waiter.
}

void Timeline::operator delete(Timeline* timeline, std::destroying_delete_t) {
  // Without an anchor no other thread can reach the timeline any more.
  const bool is_alone = timeline->anchors_.load(std::memory_order_acquire) == 1;
  if (!is_alone || timeline->is_awaited()) timeline->Abandon();
  timeline->ReleaseStorage();
}

void Timeline::ReleaseStorage() {
  // Release and acquire: the last thread sees what the others have written.
  if (anchors_.load(std::memory_order_acquire) != 1) {
    const int32_t before = anchors_.fetch_sub(1, std::memory_order_acq_rel);
    TAKT_CHECK(before >= 1);
    if (before != 1) return;
  }
  this->~Timeline();
  BlockPool::Free(this);
}

void Timeline::Abandon() {
  Deferred* due = nullptr;
  {
    MutexLock lock(&mutex_);
    if (first_ == nullptr) return;
    const uint64_t value = value_.load(std::memory_order_relaxed);
    const absl::string_view name =
        name_ != nullptr ? absl::string_view(*name_) : "";
    const uint64_t awaited = first_->value;
    const absl::Status error = LeanError(absl::StatusCode::kAborted, [&] {
      return absl::StrCat("forgotten: timeline", name.empty() ? "" : " ", name,
                          " was released at ", value, " while a wait for ",
                          awaited,
                          " was pending; no reference is left to signal it");
    });
    due = TakeDue(std::numeric_limits<uint64_t>::max(), error);
    TAKT_CHECK(due != nullptr && first_ == nullptr);
  }
  RunOrDefer(due);
}

void Timeline::set_name(absl::string_view name) {
  auto copy = std::make_unique<const std::string>(name);
  MutexLock lock(&mutex_);
  name_.swap(copy);
}

std::string Timeline::name() const {
  MutexLock lock(&mutex_);
  return name_ != nullptr ? *name_ : std::string();
}

void Timeline::SetSignaller(uint64_t value,
                            const Ref<const Signaller>& signaller,
                            Borrower* holder) {
  // Destroyed after the lock is released.
  Ref<const Signaller> before;
  Borrowers lenders;
  {
    MutexLock lock(&mutex_);
    if (signaller_ == nullptr || signaller_value_ != value) {
      before = std::move(signaller_);
      signaller_ = signaller;
      signaller_value_ = value;
    }
    if (holder == nullptr) return;
    // Without memory, work goes without the loan.
    TAKT_TRY { AddHolder(value, holder, &lenders); }
    TAKT_CATCH(const std::bad_alloc&) {}
  }
  for (const Ref<Borrower>& lender : lenders) lender->Review();
}

void Timeline::AddHolder(uint64_t value, Borrower* holder, Borrowers* lenders) {
  const uint64_t reached = value_.load(std::memory_order_relaxed);
  const auto is_over = [&](const Holder& each) {
    return each.value <= reached;
  };
  holders_.erase(std::remove_if(holders_.begin(), holders_.end(), is_over),
                 holders_.end());
  for (const Holder& each : holders_) {
    if (each.value == value) return;
  }
  holders_.push_back({value, Ref<Borrower>::Retain(holder)});
  for (TimelineWaiter* waiter = first_;
       waiter != nullptr && waiter->value <= value;
       waiter = waiter->next_waiter) {
    Borrower* const lender = waiter->loan.borrower;
    if (lender != nullptr && lender->ShouldLendTo(holder)) {
      lenders->push_back(Ref<Borrower>::Retain(lender));
    }
  }
}

Ref<Borrower> Timeline::FindHolder(uint64_t value) const {
  MutexLock lock(&mutex_);
  const Holder* first = nullptr;
  for (const Holder& each : holders_) {
    if (each.value < value) continue;
    if (first == nullptr || each.value < first->value) first = &each;
  }
  return first != nullptr ? first->work : nullptr;
}

Ref<const Signaller> Timeline::FindSignaller(uint64_t value) const {
  MutexLock lock(&mutex_);
  return signaller_value_ == value ? signaller_ : nullptr;
}

absl::Status Timeline::error() const {
  if (!failed()) return absl::OkStatus();
  MutexLock lock(&mutex_);
  return error_;
}

absl::Status Timeline::Query(uint64_t value, bool* reached) const {
  // failed_ is read first: a timeline that reached `value` and failed after
  // that must not be taken for one that failed before.
  const bool had_failed = failed();
  *reached = this->value() >= value;
  return *reached || !had_failed ? absl::OkStatus() : error();
}

absl::Status Timeline::Signal(uint64_t value) {
  if (value > kMaxValue) {
    return absl::InvalidArgumentError(
        absl::StrCat("timeline value ", value, " is beyond ", kMaxValue));
  }
  Deferred* due = nullptr;
  {
    MutexLock lock(&mutex_);
    if (failed_.load(std::memory_order_relaxed)) return error_;
    const uint64_t old = value_.load(std::memory_order_relaxed);
    if (value <= old) {
      return LeanError(absl::StatusCode::kFailedPrecondition, [&] {
        return absl::StrCat("timeline is at ", old,
                            " and cannot be signaled to ", value);
      });
    }
    value_.store(value, std::memory_order_release);
    if (first_ != nullptr) due = TakeDue(value, absl::OkStatus());
    TAKT_DCHECK(first_ == nullptr || first_->value > value);
  }
  // The timeline may be destroyed from here on: its last owner may be a waiter.
  if (due != nullptr) RunOrDefer(due);
  return absl::OkStatus();
}

void Timeline::Fail(absl::Status error) {
  TAKT_CHECK(!error.ok());
  Deferred* due = nullptr;
  {
    MutexLock lock(&mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    error_ = error;
    failed_.store(true, std::memory_order_release);
    due = TakeDue(std::numeric_limits<uint64_t>::max(), error);
    TAKT_CHECK(first_ == nullptr && last_ == nullptr);
  }
  if (due != nullptr) RunOrDefer(due);
}

bool Timeline::AddWaiter(TimelineWaiter* waiter, absl::Status* status) {
  if (value() >= waiter->value) {
    *status = absl::OkStatus();
    return false;
  }
  MutexLock lock(&mutex_);
  if (value_.load(std::memory_order_relaxed) >= waiter->value) {
    *status = absl::OkStatus();
    return false;
  }
  if (failed_.load(std::memory_order_relaxed)) {
    *status = error_;
    return false;
  }
  TAKT_DCHECK(waiter->notify != nullptr);
  waiter->run = RunWaiter;
  Insert(waiter);
  return true;
}

bool Timeline::Cancel(TimelineWaiter* waiter) {
  MutexLock lock(&mutex_);
  // A waiter has neighbours only while it is in the list.
  const bool registered =
      waiter == first_ || waiter->previous_waiter != nullptr;
  if (!registered) return false;
  TAKT_DCHECK(first_ != nullptr && last_ != nullptr);
  TimelineWaiter* before = waiter->previous_waiter;
  TimelineWaiter* after = waiter->next_waiter;
  (before != nullptr ? before->next_waiter : first_) = after;
  (after != nullptr ? after->previous_waiter : last_) = before;
  waiter->previous_waiter = waiter->next_waiter = nullptr;
  return true;
}

void Timeline::Insert(TimelineWaiter* waiter) {
  TAKT_DCHECK(waiter->next_waiter == nullptr &&
              waiter->previous_waiter == nullptr && waiter != first_);
  // Most waiters come in the order of their values, so search from the end.
  TimelineWaiter* before = last_;
  if (first_ != nullptr && waiter->value < first_->value) before = nullptr;
  while (before != nullptr && before->value > waiter->value) {
    before = before->previous_waiter;
  }
  TimelineWaiter* after = before != nullptr ? before->next_waiter : first_;
  waiter->previous_waiter = before;
  waiter->next_waiter = after;
  (before != nullptr ? before->next_waiter : first_) = waiter;
  (after != nullptr ? after->previous_waiter : last_) = waiter;
  TAKT_DCHECK(before == nullptr || before->value <= waiter->value);
  TAKT_DCHECK(after == nullptr || waiter->value < after->value);
}

Deferred* Timeline::TakeDue(uint64_t value, const absl::Status& outcome) {
  Deferred* due = nullptr;
  Deferred** end = &due;
  while (first_ != nullptr && first_->value <= value) {
    TimelineWaiter* waiter = first_;
    first_ = waiter->next_waiter;
    waiter->next_waiter = waiter->previous_waiter = nullptr;
    waiter->outcome = outcome;
    *end = waiter;
    end = &waiter->next;
  }
  *end = nullptr;
  (first_ != nullptr ? first_->previous_waiter : last_) = nullptr;
  return due;
}

}  // namespace takt::hal
